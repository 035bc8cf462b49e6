// Opens a picture of a set as RGB, turned to the frame of its annotations.
#pragma once

#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Reads JPEG or PNG and converts it to RGB of 8 bits. Grey is repeated, CMYK and palettes become
// RGB, 16 bits are rounded to 8, and alpha is dropped.
//
// Picture::frame says how EXIF orientation is applied. With by_size, the size in the annotations
// decides. If only the stored picture has that size, the pixels stay as they are stored. If both
// have it (a square picture, a half turn, a mirror image) or only the turned one has it, the
// picture is turned, as viewers show it.
//
// If neither has it, width and height may still differ from the annotations' by one factor (up to a
// pixel of rounding). The file was then scaled after it was annotated, and boxes are valid relative
// to the picture's size. The picture is returned in its own size. Any other difference is an Error,
// which names the file, the picture's id and both sizes. Files that are missing, damaged,
// truncated, of another kind or beyond the limits are Errors too. Any number of threads may call
// it.
Image open_picture(const Picture& picture, const PictureLimits& limits = {});

}  // namespace lockstep::fewshot
