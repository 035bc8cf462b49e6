#include "recipes/fewshot/pictures/open_picture.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {
namespace {

// Whether the picture must be turned by its EXIF orientation. Throws Error if neither frame fits
// its annotated size.
bool is_turned(const ImageShape& stored, const ImageShape& turned, const Picture& picture) {
  const int as_stored =
                picture.frame == Frame::turned ? 0 : fit_of(stored, picture.width, picture.height),
            as_turned =
                picture.frame == Frame::stored ? 0 : fit_of(turned, picture.width, picture.height);
  if (as_stored > 0 || as_turned > 0) return as_turned >= as_stored;
  throw Error(
      cat(picture.path.string(), " is ", turned.width, " x ", turned.height,
          ", but its annotations are of a picture of ", picture.width, " x ", picture.height),
      "boxes are in pixels: annotate this picture, or bring the one that was annotated");
}

Image read_rgb(const Picture& picture, const PictureLimits& limits) {
  const std::string bytes = read_picture_bytes(picture.path, limits);
  const std::string name = picture.path.string();
  const auto shape = [&](bool turn) {
    return decode_picture_shape(bytes, name, {.turn = turn, .limits = limits});
  };
  const bool turn = is_turned(shape(false), shape(true), picture);
  Image image = decode_picture(bytes, name, {.turn = turn, .limits = limits});
  if (image.channels() == 3 && image.bits() == 8) return image;
  return convert(image, 3, 8);
}

}  // namespace

Image open_picture(const Picture& picture, const PictureLimits& limits) {
  try {
    return read_rgb(picture, limits);
  } catch (const Error& error) {
    throw Error(cat(error.what(), " (picture id ", picture.id, ")"), error.hint());
  }
}

}  // namespace lockstep::fewshot
