// Opens a picture of a set as RGB, in the frame of its annotations.
#pragma once

#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Reads a JPEG or PNG file and converts it to RGB of 8 bits. Grey is copied to all three channels,
// CMYK and palettes become RGB, 16 bits are rounded to 8, and alpha is dropped. Any number of
// threads may call it.
//
// Picture::frame says whether the picture is turned by its EXIF orientation. With Frame::by_size,
// the frame that fits the annotations' size better is used (fit_of in picture_look.h). If both
// frames fit equally well, the picture is turned, as viewers show it. Both fit equally well for
// squares, half turns and mirror images.
//
// The file may have been scaled after it was annotated. Width and height then differ from those in
// the annotations by one factor, up to a pixel of rounding. The picture is returned in its own
// size, so boxes must be scaled by that factor. Any other difference of sizes is an Error, which
// names the file, the picture's id and both sizes. Also throws Error if the file is missing,
// damaged, truncated, not JPEG or PNG, or exceeds `limits`.
Image open_picture(const Picture& picture, const PictureLimits& limits = {});

}  // namespace lockstep::fewshot
