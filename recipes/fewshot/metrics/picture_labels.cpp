#include "recipes/fewshot/metrics/picture_labels.h"

#include <algorithm>
#include <array>

#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/media/pictures/font.h"

namespace lockstep::fewshot {
namespace {

Colour towards(Colour colour, std::uint8_t end, double share) {
  const auto mix = [&](std::uint8_t from) {
    return static_cast<std::uint8_t>(from + (end - from) * share);
  };
  return {mix(colour.red), mix(colour.green), mix(colour.blue)};
}

bool is_printable(char32_t character) { return character > 0x20 && character < 0x7f; }

}  // namespace

Colour class_colour(std::span<const NamedClass> classes, std::int64_t category) {
  constexpr Colour unknown{150, 150, 150};
  const auto found = std::find_if(classes.begin(), classes.end(),
                                  [&](const NamedClass& one) { return one.category == category; });
  if (found == classes.end()) return unknown;
  const auto place = static_cast<std::size_t>(found - classes.begin());
  const Colour colour = palette(place);
  switch (place / palette_size % 3) {
    case 1:
      return towards(colour, 0, 0.45);
    case 2:
      return towards(colour, 255, 0.5);
    default:
      return colour;
  }
}

std::string cut_text(std::string_view text, std::size_t characters) {
  return text.size() <= characters
             ? std::string(text)
             : std::string(text.substr(0, characters > 2 ? characters - 2 : 0)) + "..";
}

std::string shown_name(std::span<const NamedClass> classes, std::int64_t category,
                       std::size_t characters) {
  std::string shown;
  bool is_readable = false;
  const std::string name = class_name(classes, category);
  for (std::string_view rest = name; !rest.empty() && shown.size() <= characters;) {
    const CodePoint next = next_code_point(rest);
    rest.remove_prefix(next.length);
    const bool printable = next.valid && is_printable(next.value);
    is_readable = is_readable || printable;
    shown += printable || next.value == U' ' ? static_cast<char>(next.value) : '?';
  }
  return cut_text(is_readable ? shown : cat("class ", category), characters);
}

TextSize label_size(const Label& label) {
  const TextSize text = text_size(label.text, label.scale);
  return {.width = text.width + 4 * label.scale, .height = text.height + 2 * label.scale};
}

void draw_label(Image& image, double left, double top, const Label& label) {
  const int margin = 2 * label.scale;
  const int room = std::max(image.width() - 2 * margin, 0) / (glyph_width * label.scale);
  const Label shown{cut_text(label.text, static_cast<std::size_t>(room)), label.fill, label.scale};
  const TextSize size = label_size(shown);
  fill_rectangle(image, {left, top, left + size.width, top + size.height}, label.fill);
  draw_text(image, left + margin, top + label.scale, shown.text, text_colour_on(label.fill),
            label.scale);
}

double LabelPlaces::covered(const Rectangle& place) const {
  double sum = 0;
  for (const Rectangle& other : taken_) {
    const double width = std::min(place.right, other.right) - std::max(place.left, other.left);
    const double height = std::min(place.bottom, other.bottom) - std::max(place.top, other.top);
    sum += std::max(width, 0.0) * std::max(height, 0.0);
  }
  return sum;
}

Rectangle LabelPlaces::take(const Rectangle& box, const TextSize& size) {
  const double right = box.right - size.width, middle = (box.left + right) / 2;
  const double above = box.top - size.height, end = box.bottom - size.height;
  const std::array<std::array<double, 2>, 9> corners{{{box.left, above},
                                                      {middle, above},
                                                      {right, above},
                                                      {box.left, box.bottom},
                                                      {middle, box.bottom},
                                                      {right, box.bottom},
                                                      {box.left, box.top},
                                                      {box.left, end},
                                                      {box.right, box.top}}};
  Rectangle best;
  double least = -1;
  for (const auto& [x, y] : corners) {
    const double left = std::clamp(x, 0.0, std::max(0.0, width_ - static_cast<double>(size.width)));
    const double top =
        std::clamp(y, 0.0, std::max(0.0, height_ - static_cast<double>(size.height)));
    const Rectangle place{left, top, left + size.width, top + size.height};
    // A label that was moved costs more, because it is farther from its box.
    const double cost = covered(place) + (left != x || top != y ? 1 : 0);
    if (least >= 0 && cost >= least) continue;
    best = place;
    least = cost;
  }
  taken_.push_back(best);
  return best;
}

}  // namespace lockstep::fewshot
