// Opens a picture of a set as RGB, in the frame of its annotations.
#pragma once

#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Reads a JPEG or PNG file and converts it to RGB of 8 bits. Grey is repeated, CMYK and palettes
// become RGB, 16 bits are rounded to 8, and alpha is dropped. Any number of threads may call it.
//
// Picture::frame says whether the picture is turned by its EXIF orientation. With by_size, the
// frame that fits the annotations' size better is used (fit_of in picture_look.h). If both frames
// fit equally well, the picture is turned, as viewers show it. This is so for squares, half turns
// and mirror images.
//
// The file may have been scaled after it was annotated. Width and height then differ from the
// annotations' by one factor, up to a pixel of rounding. The picture is returned in its own size,
// and boxes are valid relative to that size. Any other difference is an Error, which names the
// file, the picture's id and both sizes. Also throws Error if the file is missing, damaged,
// truncated, of another kind or beyond the limits.
Image open_picture(const Picture& picture, const PictureLimits& limits = {});

}  // namespace lockstep::fewshot
