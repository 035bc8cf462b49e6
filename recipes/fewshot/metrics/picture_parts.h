// Cuts and scales pictures, for showing.
#pragma once

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// Returns RGB of 8 bits. Averages if the picture becomes smaller, interpolates linearly if larger.
// Throws Error for an empty picture and for extents below 1.
Image resized(const Image& image, int height, int width);

// Returns the box with `context` pixels around it, as far as it lies within the picture, as RGB of
// 8 bits. The result has at least one pixel. Throws Error for an empty picture and a box that is
// not finite.
Image crop_box(const Image& image, double x, double y, double width, double height,
               double context = 0);

}  // namespace lockstep::fewshot
