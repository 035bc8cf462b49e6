// Resizing of RGB pictures, bilinear with antialiasing.
#pragma once

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// A part of a picture, between pixels: the whole picture is {0, 0, width, height}.
struct Region {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// Resizes the region of a picture to width x height, each side scaled for itself. A triangle filter
// is used, whose support grows with the reduction. It is Pillow's Image.resize(size, BILINEAR, box)
// (equal to it within one level, in nearly all pixels exactly). image: RGB of 8 bits. The region
// lies within the picture and is not empty. Throws Error otherwise, and for extents below 1 or
// above 65,535.
Image resize(const Image& image, int height, int width, const Region& region);
Image resize(const Image& image, int height, int width);  // the whole picture

}  // namespace lockstep::fewshot
