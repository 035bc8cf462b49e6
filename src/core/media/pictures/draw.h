// Draws rectangles, masks and text on a picture.
//
// All functions take RGB pictures of 8 bits, which convert() can make. They throw Error for others.
// They ignore parts outside the picture and non-finite coordinates. Pixel (0, 0) is the upper left
// one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/media/colour.h"
#include "core/media/pictures/image.h"

namespace lockstep {

// In pixels; right and bottom are exclusive, so that right - left is the width.
struct Rectangle {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// The frame is drawn inside the rectangle. thickness: pixels, at least 1.
void draw_rectangle(Image& image, const Rectangle& rectangle, Colour colour, int thickness = 2);
void fill_rectangle(Image& image, const Rectangle& rectangle, Colour colour, double opacity = 1);

struct Point {
  double x = 0, y = 0;
};
// Fills closed contours together by the even-odd rule: a contour within another is a hole. Edges
// are smooth: a pixel takes the colour in proportion to its covered area. Contours of fewer than
// three points, or with a non-finite point, are left out.
void fill_polygon(Image& image, std::span<const std::vector<Point>> contours, Colour colour,
                  double opacity = 1);

// Blends the colour over the pixels whose mask is not 0. mask: a value per pixel, height x width of
// the picture (else Error). opacity: 0 to 1.
void draw_mask(Image& image, std::span<const std::uint8_t> mask, Colour colour,
               double opacity = 0.45);
// The same, only for pixels of the mask that have a neighbour outside it.
void draw_outline(Image& image, std::span<const std::uint8_t> mask, Colour colour);

struct TextSize {
  int width = 0, height = 0;
};
// One line of UTF-8. scale: 1 is 6 x 13 pixels a character.
TextSize text_size(std::string_view text, int scale = 1);
// left, top: the upper left corner of the first character. Non-ASCII characters are drawn as an
// empty frame.
void draw_text(Image& image, double left, double top, std::string_view text, Colour colour,
               int scale = 1);
// A rectangle with its name on a filled strip above it, or inside if there is no space above.
void draw_labelled(Image& image, const Rectangle& rectangle, std::string_view text, Colour colour,
                   int thickness = 2, int scale = 1);
// A scale and a thickness that are readable when a picture of this size is shown whole.
int readable_scale(const Image& image);

}  // namespace lockstep
