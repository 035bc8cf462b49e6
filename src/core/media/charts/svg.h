// Builds an SVG drawing from shapes and texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/media/colour.h"

namespace lockstep {

// Escapes text for XML content and attributes. First applies `printable`, except to newlines and
// tabs. Characters that are not allowed in XML become U+FFFD.
std::string xml_text(std::string_view text);

enum class Anchor { start, middle, end };

struct TextStyle {
  Anchor anchor = Anchor::start;
  int size = 12;  // font size in pixels
  bool bold = false;
  bool upwards = false;  // turned by 90 degrees, so that it is read from bottom to top
};

using SvgPoint = std::pair<double, double>;

// Coordinates must be finite. They are in pixels from the upper left corner.
class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  void line(SvgPoint from, SvgPoint to, const std::string& colour, double wide = 1);
  // dash: lengths of dashes and gaps in pixels, as in stroke-dasharray; "" for a solid line.
  void path(std::span<const SvgPoint> points, const std::string& colour, double wide,
            const std::string& dash = "", double opacity = 1);
  void area(std::span<const SvgPoint> points, const std::string& colour, double opacity);
  // tip: text that browsers show under the pointer; may be empty.
  void rectangle(SvgPoint upper_left, double width, double height, const std::string& colour,
                 const std::string& tip = "");
  void circle(SvgPoint centre, double radius, const std::string& colour,
              const std::string& tip = "");
  void text(SvgPoint at, std::string_view text, const TextStyle& style = {});
  // Adds SVG elements as they are.
  void drawing(const std::string& elements) { body_ += elements; }
  // Clips the shapes that are drawn until end_clip() to the rectangle.
  void begin_clip(SvgPoint upper_left, double width, double height);
  void end_clip();

  // Returns the whole SVG file. title: for screen readers.
  std::string text_of(const std::string& title) const;

 private:
  void shape(const std::string& element, const std::string& tip);

  double width_, height_;
  int clips_ = 0;
  std::string body_;
};

// Returns the approximate width in pixels of the text in a sans-serif font of this size.
double text_width(std::string_view text, int size);
// Cuts the text to a number of characters. If the text is longer, the last character of the result
// is an ellipsis.
std::string shortened(std::string_view text, std::size_t characters);

}  // namespace lockstep
