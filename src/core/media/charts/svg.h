// Builds an SVG drawing: shapes with numbers and escaped text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/media/colour.h"

namespace lockstep {

// Escapes text for XML content and attributes, as `printable` with newlines and tabs kept.
// Characters that XML cannot hold become U+FFFD.
std::string xml_text(std::string_view text);

enum class Anchor { start, middle, end };

struct TextStyle {
  Anchor anchor = Anchor::start;
  int size = 12;  // pixels
  bool bold = false;
  bool upwards = false;  // turned by 90 degrees
};

using SvgPoint = std::pair<double, double>;

// Coordinates are finite and in pixels from the upper left corner.
class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  void line(SvgPoint from, SvgPoint to, const std::string& colour, double wide = 1);
  // dash: pixels on and off, as in stroke-dasharray; "": none.
  void path(std::span<const SvgPoint> points, const std::string& colour, double wide,
            const std::string& dash = "", double opacity = 1);
  void area(std::span<const SvgPoint> points, const std::string& colour, double opacity);
  // tip: a text that browsers show over it; "": none.
  void rectangle(SvgPoint upper_left, double width, double height, const std::string& colour,
                 const std::string& tip = "");
  void circle(SvgPoint centre, double radius, const std::string& colour,
              const std::string& tip = "");
  void text(SvgPoint at, std::string_view text, const TextStyle& style = {});
  // Adds SVG elements unchanged.
  void drawing(const std::string& elements) { body_ += elements; }
  // Until end_clip(), drawings are clipped to the rectangle.
  void begin_clip(SvgPoint upper_left, double width, double height);
  void end_clip();

  // The whole file. title: for screen readers.
  std::string text_of(const std::string& title) const;

 private:
  void shape(const std::string& element, const std::string& tip);

  double width_, height_;
  int clips_ = 0;
  std::string body_;
};

// The approximate width that browsers give the text in a sans-serif font of this size.
double text_width(std::string_view text, int size);
// Cuts the text to a number of characters. If something is cut off, the last character is an
// ellipsis.
std::string shortened(std::string_view text, std::size_t characters);

}  // namespace lockstep
