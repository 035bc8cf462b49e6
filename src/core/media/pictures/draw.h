// Draws rectangles, masks and text on a picture.
//
// The functions that draw take RGB pictures with 8 bits, which convert() can make. They throw Error
// for any other picture. Parts outside the picture and non-finite coordinates are ignored. Pixel
// (0, 0) is the upper left one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/media/colour.h"
#include "core/media/pictures/image.h"

namespace lockstep {

// Coordinates in pixels. right and bottom are exclusive, so right - left is the width.
struct Rectangle {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// Draws a frame inside the rectangle. thickness: in pixels, at least 1.
void draw_rectangle(Image& image, const Rectangle& rectangle, Colour colour, int thickness = 2);
void fill_rectangle(Image& image, const Rectangle& rectangle, Colour colour, double opacity = 1);

struct Point {
  double x = 0, y = 0;
};
// Fills closed contours together, by the even-odd rule. So a contour within another contour is a
// hole. Edges are smooth: a pixel gets the colour in proportion to its covered area. Contours with
// fewer than three points or with a non-finite point are left out.
void fill_polygon(Image& image, std::span<const std::vector<Point>> contours, Colour colour,
                  double opacity = 1);

// Blends the colour over the pixels at which the mask is not 0. mask: [height, width] of the
// picture; throws Error if it has another size. opacity: 0 to 1.
void draw_mask(Image& image, std::span<const std::uint8_t> mask, Colour colour,
               double opacity = 0.45);
// The same, but only for those pixels of the mask that have a neighbour outside the mask.
void draw_outline(Image& image, std::span<const std::uint8_t> mask, Colour colour);

struct TextSize {
  int width = 0, height = 0;
};
// Returns the size of one line of UTF-8 text. scale: with 1, a character has 6 x 13 pixels.
TextSize text_size(std::string_view text, int scale = 1);
// Draws one line of text. left, top: the upper left corner of the first character. scale: as in
// text_size. A non-ASCII character is drawn as an empty frame.
void draw_text(Image& image, double left, double top, std::string_view text, Colour colour,
               int scale = 1);
// Draws a rectangle, and above it a label on a filled strip. If there is no space above it, the
// strip is inside the rectangle.
void draw_labelled(Image& image, const Rectangle& rectangle, std::string_view text, Colour colour,
                   int thickness = 2, int scale = 1);
// Returns a number to use as the scale of text and the thickness of frames. With it, both are
// visible when a picture of this size is shown as a whole.
int readable_scale(const Image& image);

}  // namespace lockstep
