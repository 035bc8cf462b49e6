// A picture of a set as RGB, turned as its annotations mean it.
#pragma once

#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Reads JPEG or PNG and converts to RGB of 8 bits: grey is repeated, CMYK and palettes become RGB,
// 16 bits are rounded to 8, alpha is dropped.
//
// EXIF orientation: as Picture::frame says. With by_size, the size in the annotations decides. If
// it is that of the stored picture and not of the turned one, the pixels stay as they are stored.
// If it fits both (a square picture, a half turn, a mirror image) or only the turned one, the
// picture is turned, as viewers show it.
//
// If neither fits, width and height may still differ from the annotations' by one factor (to a
// pixel of rounding). Then the file was scaled after it was annotated, and boxes hold in parts of
// the picture; the picture is returned in its own size. Anything else is an Error, which names the
// file, the picture's id and both sizes. So are files that are missing, damaged, cut off, of
// another kind or beyond the limits. Any number of threads.
Image open_picture(const Picture& picture, const PictureLimits& limits = {});

}  // namespace lockstep::fewshot
