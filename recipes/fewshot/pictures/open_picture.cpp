#include "recipes/fewshot/pictures/open_picture.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace lockstep::fewshot {
namespace {

bool is_size(const ImageShape& shape, const Picture& picture) {
  return shape.width == picture.width && shape.height == picture.height;
}

// Whether one factor makes the one size the other, to a pixel of rounding.
bool is_scaled(const ImageShape& shape, const Picture& picture) {
  const double by_width = static_cast<double>(shape.width) / picture.width;
  const double by_height = static_cast<double>(shape.height) / picture.height;
  return std::abs(picture.height * by_width - shape.height) <= 1 ||
         std::abs(picture.width * by_height - shape.width) <= 1;
}

// Whether the picture is turned by its EXIF orientation. Throws Error where neither will do.
bool is_turned(const ImageShape& stored, const ImageShape& turned, const Picture& picture) {
  if (is_size(turned, picture)) return true;
  if (is_size(stored, picture)) return false;
  if (is_scaled(turned, picture)) return true;
  if (is_scaled(stored, picture)) return false;
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
