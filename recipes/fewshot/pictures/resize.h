// Resizes RGB pictures bilinearly with antialiasing.
#pragma once

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// A part of a picture. Coordinates are in pixels from the left and upper edges of the picture. So
// the whole picture is {0, 0, width, height}.
struct Region {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// Resizes the region of a picture to width x height, each side with its own factor. The filter is a
// triangle, which becomes wider as the picture becomes smaller, as in Pillow's Image.resize(size,
// BILINEAR, box). Results differ from Pillow's by at most one level, and are equal in nearly all
// pixels. image: RGB of 8 bits. Throws Error if the region is empty or does not lie within the
// picture. Also throws Error if `image` is not RGB of 8 bits, and for a width or height below 1 or
// above 65,535.
Image resize(const Image& image, int height, int width, const Region& region);
Image resize(const Image& image, int height, int width);  // the whole picture

}  // namespace lockstep::fewshot
