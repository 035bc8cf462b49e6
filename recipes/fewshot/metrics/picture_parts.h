// Parts of pictures and other sizes of them, for showing.
#pragma once

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// RGB of 8 bits. Averages if it becomes smaller, interpolates linearly if larger. Throws
// Error for an empty picture and for extents below 1.
Image resized(const Image& image, int height, int width);

// The part of a box with `context` pixels around it, as far as it lies within the picture, as RGB
// of 8 bits. At least one pixel. Throws Error for an empty picture and a box that is not finite.
Image crop_box(const Image& image, double x, double y, double width, double height,
               double context = 0);

}  // namespace lockstep::fewshot
