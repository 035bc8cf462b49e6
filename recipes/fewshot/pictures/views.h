// The view of a picture that a network gets: the whole picture, or a crop around one box.
#pragma once

#include <array>
#include <cstdint>

#include "core/media/pictures/image.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Corners in pixels of a view. right and bottom lie just outside, so right - left is the width.
struct ViewBox {
  float left = 0, top = 0, right = 0, bottom = 0;
};

// For a query: the whole picture as RGB u8 [size, size, 3], without keeping the aspect ratio.
// pixels: from open_picture.
Image whole_view(const Image& pixels, int size);
// The place of a box of `picture` in the whole view.
ViewBox box_in_view(const Picture& picture, const Box& box, int size);

struct CropShape {
  int size = 320;    // of the square, in pixels
  int context = 16;  // pixels around the box within the square; 2 x context < size
};
// The RGB colour beyond a picture. It is the mean with which torchvision's and timm's weights are
// normalised, so it becomes zero.
inline constexpr std::array<std::uint8_t, 3> fill_colour{124, 116, 104};

struct Crop {
  Image image;    // RGB u8 [size, size, 3]
  ViewBox box{};  // place of the box in the crop
};
// For a support: the box, scaled by one factor so that its longer side is size - 2 x context, in
// the middle of the square. Up to `context` pixels of the picture are on each of its sides. The
// rest of the square is fill_colour.
Crop support_crop(const Image& pixels, const Picture& picture, const Box& box,
                  const CropShape& shape = {});

}  // namespace lockstep::fewshot
