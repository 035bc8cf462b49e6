// Cuts and scales pictures that are shown to users.
#pragma once

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// Returns the picture scaled to width x height, RGB of 8 bits. Along a side that becomes shorter,
// pixels are averaged. Along a side that becomes longer, they are interpolated linearly. Throws
// Error for an empty picture and for a side below 1.
Image resized(const Image& image, int height, int width);

// Returns the part of the picture within the box, RGB of 8 bits. The part has `context` more pixels
// on each side, as far as they lie within the picture. It has at least one pixel. Throws Error for
// an empty picture and for numbers that are not finite.
Image crop_box(const Image& image, double x, double y, double width, double height,
               double context = 0);

}  // namespace lockstep::fewshot
