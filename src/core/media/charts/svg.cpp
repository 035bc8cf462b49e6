#include "core/media/charts/svg.h"

#include <cmath>
#include <cstdio>

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

// Prints at most two decimals, without trailing zeros.
std::string number(double value) {
  LOCKSTEP_CHECK(std::isfinite(value));
  std::string text = fixed(value, 2);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string points_text(std::span<const SvgPoint> points) {
  std::string text;
  for (const auto& [x, y] : points) {
    if (!text.empty()) text += ' ';
    text += number(x) + "," + number(y);
  }
  return text;
}

const char* anchor_word(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

bool allowed_in_xml(char32_t c) { return c <= 0xFFFD || c > 0xFFFF; }

}  // namespace

std::string xml_text(std::string_view text) {
  std::string escaped;
  const std::string shown = printable(std::string(text), "\n\t");
  for (std::string_view rest = shown; !rest.empty();) {
    const CodePoint c = next_code_point(rest);
    rest.remove_prefix(c.length);
    if (!allowed_in_xml(c.value))
      append_utf8(escaped, replacement_character);
    else if (c.value == U'<')
      escaped += "&lt;";
    else if (c.value == U'>')
      escaped += "&gt;";
    else if (c.value == U'&')
      escaped += "&amp;";
    else if (c.value == U'"')
      escaped += "&quot;";
    else
      append_utf8(escaped, c.value);
  }
  return escaped;
}

double text_width(std::string_view text, int size) {
  constexpr double mean_width = 0.6;
  std::size_t characters = 0;
  for (; !text.empty(); ++characters) text.remove_prefix(next_code_point(text).length);
  return mean_width * size * static_cast<double>(characters);
}

std::string shortened(std::string_view text, std::size_t characters) {
  std::size_t seen = 0, cut = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (++seen == characters) cut = at;
    at += next_code_point(text.substr(at)).length;
  }
  return seen <= characters ? std::string(text) : std::string(text.substr(0, cut)) + "\u2026";
}

void Svg::shape(const std::string& element, const std::string& tip) {
  // `element` lacks its end.
  const std::string name = element.substr(1, element.find(' ') - 1);
  body_ += tip.empty() ? element + "/>\n"
                       : cat(element, "><title>", xml_text(tip), "</title></", name, ">\n");
}

void Svg::line(SvgPoint from, SvgPoint to, const std::string& colour, double wide) {
  shape(cat("<line x1=\"", number(from.first), "\" y1=\"", number(from.second), "\" x2=\"",
            number(to.first), "\" y2=\"", number(to.second), "\" stroke=\"", colour,
            "\" stroke-width=\"", number(wide), "\""),
        "");
}

void Svg::path(std::span<const SvgPoint> points, const std::string& colour, double wide,
               const std::string& dash, double opacity) {
  if (points.size() < 2) return;
  shape(cat("<polyline points=\"", points_text(points), "\" fill=\"none\" stroke=\"", colour,
            "\" stroke-width=\"", number(wide), "\" stroke-linejoin=\"round\"",
            dash.empty() ? "" : cat(" stroke-dasharray=\"", dash, "\""),
            opacity < 1 ? cat(" stroke-opacity=\"", number(opacity), "\"") : ""),
        "");
}

void Svg::area(std::span<const SvgPoint> points, const std::string& colour, double opacity) {
  if (points.size() < 3) return;
  shape(cat("<polygon points=\"", points_text(points), "\" fill=\"", colour, "\" fill-opacity=\"",
            number(opacity), "\""),
        "");
}

void Svg::rectangle(SvgPoint upper_left, double width, double height, const std::string& colour,
                    const std::string& tip) {
  shape(
      cat("<rect x=\"", number(upper_left.first), "\" y=\"", number(upper_left.second),
          "\" width=\"", number(width), "\" height=\"", number(height), "\" fill=\"", colour, "\""),
      tip);
}

void Svg::circle(SvgPoint centre, double radius, const std::string& colour,
                 const std::string& tip) {
  shape(cat("<circle cx=\"", number(centre.first), "\" cy=\"", number(centre.second), "\" r=\"",
            number(radius), "\" fill=\"", colour, "\""),
        tip);
}

void Svg::text(SvgPoint at, std::string_view text, const TextStyle& style) {
  body_ += cat("<text x=\"", number(at.first), "\" y=\"", number(at.second), "\" font-size=\"",
               style.size, "\" text-anchor=\"", anchor_word(style.anchor), "\"",
               style.bold ? " font-weight=\"bold\"" : "",
               style.upwards ? cat(" transform=\"rotate(-90 ", number(at.first), " ",
                                   number(at.second), ")\"")
                             : "",
               ">", xml_text(text), "</text>\n");
}

void Svg::begin_clip(SvgPoint upper_left, double width, double height) {
  ++clips_;
  body_ += cat("<clipPath id=\"clip", clips_, "\"><rect x=\"", number(upper_left.first), "\" y=\"",
               number(upper_left.second), "\" width=\"", number(width), "\" height=\"",
               number(height), "\"/></clipPath>\n<g clip-path=\"url(#clip", clips_, ")\">\n");
}

void Svg::end_clip() { body_ += "</g>\n"; }

std::string Svg::text_of(const std::string& title) const {
  const std::string width = number(width_), height = number(height_);
  return cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
             "\" viewBox=\"0 0 ", width, " ", height,
             "\" role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n<title>",
             xml_text(title), "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             body_, "</svg>\n");
}

}  // namespace lockstep
