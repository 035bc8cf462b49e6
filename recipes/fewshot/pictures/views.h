// The view that a network gets of a picture: the whole of it, or a crop around one box.
#pragma once

#include <array>
#include <cstdint>

#include "core/media/pictures/image.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Corners in pixels of a view; right and bottom lie just outside, so that right - left is the
// width.
struct ViewBox {
  float left = 0, top = 0, right = 0, bottom = 0;
};

// Query: the whole picture as RGB u8 [size, size, 3], not keeping its aspect.
// pixels: of open_picture.
Image whole_view(const Image& pixels, int size);
// The place of a box of `picture` in the whole view.
ViewBox box_in_view(const Picture& picture, const Box& box, int size);

struct CropShape {
  int size = 320;    // of the square, in pixels
  int context = 16;  // pixels of the square that show what is beside the box; 2 x context < size
};
// The RGB colour beyond a picture: the mean by which torchvision's and timm's weights are
// normalised, so that it becomes zero.
inline constexpr std::array<std::uint8_t, 3> fill_colour{124, 116, 104};

struct Crop {
  Image image;    // RGB u8 [size, size, 3]
  ViewBox box{};  // where the box lies in it
};
// Support: the box, scaled by one factor so that its longer side is size - 2 x context, in the
// middle of the square, with up to `context` pixels of the picture on each of its sides. The rest,
// beyond these or beyond the picture's edges, is fill_colour.
Crop support_crop(const Image& pixels, const Picture& picture, const Box& box,
                  const CropShape& shape = {});

}  // namespace lockstep::fewshot
