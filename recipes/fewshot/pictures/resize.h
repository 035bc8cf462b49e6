// Resizing of RGB pictures, bilinear with antialiasing.
#pragma once

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// A part of a picture, with borders between pixels: the whole picture is {0, 0, width, height}.
struct Region {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// Resizes the region of a picture to width x height, each side with its own factor. It uses a
// triangle filter whose support grows with the reduction, like Pillow's Image.resize(size,
// BILINEAR, box). Results equal Pillow's within one level, and exactly in nearly all pixels. image:
// RGB of 8 bits. The region must lie within the picture and not be empty. Throws Error otherwise,
// and for extents below 1 or above 65,535.
Image resize(const Image& image, int height, int width, const Region& region);
Image resize(const Image& image, int height, int width);  // the whole picture

}  // namespace lockstep::fewshot
