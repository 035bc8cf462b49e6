// Makes the views of pictures that the network gets: whole pictures, and crops around one box.
#pragma once

#include <array>
#include <cstdint>

#include "core/media/pictures/image.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// A box by its corners, in pixels of a view. right and bottom are exclusive, so right - left is the
// width.
struct ViewBox {
  float left = 0, top = 0, right = 0, bottom = 0;
};

// Returns the view of a query: the whole picture, RGB u8 [size, size, 3]. Width and height are
// scaled by different factors. pixels: from open_picture.
Image whole_view(const Image& pixels, int size);
// Returns where a box of `picture` lies in the picture's whole_view.
ViewBox box_in_view(const Picture& picture, const Box& box, int size);

struct CropShape {
  int size = 320;    // edge of the square crop, in pixels
  int context = 16;  // pixels of the crop on each side of the box; 2 x context < size
};
// The RGB colour of a crop where it extends beyond its picture. Normalisation for torchvision's and
// timm's weights subtracts this colour as the mean, so these pixels become zero.
inline constexpr std::array<std::uint8_t, 3> fill_colour{124, 116, 104};

struct Crop {
  Image image;    // RGB u8 [size, size, 3]
  ViewBox box{};  // place of the box in the crop
};
// Returns the view of a support: a square crop with the box in its middle. Width and height are
// scaled by the same factor, so that the box's longer side has size - 2 x context pixels. On each
// side of the box, up to `context` pixels of the crop show the picture. The rest of the crop is
// fill_colour.
Crop support_crop(const Image& pixels, const Picture& picture, const Box& box,
                  const CropShape& shape = {});

}  // namespace lockstep::fewshot
