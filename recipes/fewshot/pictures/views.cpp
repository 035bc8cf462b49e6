#include "recipes/fewshot/pictures/views.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/check.h"
#include "recipes/fewshot/pictures/resize.h"

namespace lockstep::fewshot {
namespace {

// One axis of a crop. The pixels [to_begin, to_end) of the square show the picture from `begin` to
// `end`.
struct Cut {
  int to_begin = 0, to_end = 0;
  double begin = 0, end = 0;
};

// centre, half: the box's centre and half extent, in pixels of the picture. scale: pixels of the
// square per pixel of the picture.
Cut cut_axis(double centre, double half, double extent, double scale, const CropShape& shape) {
  const double middle = shape.size / 2.0;
  const auto square = [&](double at) { return middle + (at - centre) * scale; };
  const auto source = [&](double to) { return centre + (to - middle) / scale; };
  // The range of whole pixels of the square, clipped to those that are inside the picture.
  const double left = std::floor(square(centre - half) - shape.context);
  const double right = std::ceil(square(centre + half) + shape.context);
  Cut cut{.to_begin = static_cast<int>(std::clamp(std::max(left, std::ceil(square(0))), 0.0,
                                                  static_cast<double>(shape.size - 1))),
          .to_end = static_cast<int>(std::clamp(std::min(right, std::floor(square(extent))), 0.0,
                                                static_cast<double>(shape.size)))};
  if (cut.to_begin >= cut.to_end)  // the picture is smaller than a pixel of the square
    return {.to_begin = cut.to_begin, .to_end = cut.to_begin + 1, .begin = 0, .end = extent};
  cut.begin = std::clamp(source(cut.to_begin), 0.0, extent);
  cut.end = std::clamp(source(cut.to_end), 0.0, extent);
  return cut;
}

Image filled(int size) {
  Image image({.height = size, .width = size, .channels = 3});
  const std::span<std::uint8_t> values = image.u8();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = fill_colour[i % 3];
  return image;
}

}  // namespace

Image whole_view(const Image& pixels, int size) { return resize(pixels, size, size); }

ViewBox box_in_view(const Picture& picture, const Box& box, int size) {
  const auto side = static_cast<float>(size);
  const float across = side / static_cast<float>(picture.width);
  const float down = side / static_cast<float>(picture.height);
  return {.left = box.x * across,
          .top = box.y * down,
          .right = std::min((box.x + box.w) * across, side),
          .bottom = std::min((box.y + box.h) * down, side)};
}

Crop support_crop(const Image& pixels, const Picture& picture, const Box& box,
                  const CropShape& shape) {
  LOCKSTEP_CHECK(shape.context >= 0 && 2 * shape.context < shape.size);
  // The pixels may be scaled; see open_picture.
  const double across = static_cast<double>(pixels.width()) / picture.width;
  const double down = static_cast<double>(pixels.height()) / picture.height;
  const double half_width = box.w * across / 2, half_height = box.h * down / 2;
  const double scale = (shape.size - 2 * shape.context) / (2 * std::max(half_width, half_height));
  const Cut x = cut_axis(box.x * across + half_width, half_width, pixels.width(), scale, shape);
  const Cut y = cut_axis(box.y * down + half_height, half_height, pixels.height(), scale, shape);
  const Image part = resize(pixels, y.to_end - y.to_begin, x.to_end - x.to_begin,
                            {.left = x.begin, .top = y.begin, .right = x.end, .bottom = y.end});
  Crop crop{.image = filled(shape.size)};
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(part.width());
  for (int row = 0; row < part.height(); ++row)
    std::memcpy(crop.image.u8().data() + 3 * (static_cast<std::size_t>(y.to_begin + row) *
                                                  static_cast<std::size_t>(shape.size) +
                                              static_cast<std::size_t>(x.to_begin)),
                part.u8().data() + row_bytes * static_cast<std::size_t>(row), row_bytes);
  const double middle = shape.size / 2.0;
  crop.box = {.left = static_cast<float>(middle - half_width * scale),
              .top = static_cast<float>(middle - half_height * scale),
              .right = static_cast<float>(middle + half_width * scale),
              .bottom = static_cast<float>(middle + half_height * scale)};
  return crop;
}

}  // namespace lockstep::fewshot
