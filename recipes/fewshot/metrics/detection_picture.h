// Draws pictures with their detections, and the supports beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/media/pictures/image.h"
#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

struct DrawDetections {
  std::span<const NamedClass> classes{};  // names; the position of a class decides its colour
  // The true boxes of this picture. A detection is right if it matches one of them at IoU 0.5. If
  // `truths` is absent, right and wrong are not marked.
  std::optional<std::span<const TrueBox>> truths{};
  std::size_t most = 100;  // largest number of detections drawn; the highest scores are chosen
  int shorter_side = 640;  // a smaller picture is enlarged to this, but at most 4 times
};

// Returns the picture with its detections, RGB of 8 bits. Each detection has a frame in its class's
// colour, and a label with name and score. True boxes are dashed. A true box that no detection
// matches has a white label with its name. A detection that matches no true box is crossed out, and
// its label begins with "wrong". Picture ids of the boxes are ignored.
//
// Long names are cut. Each character beyond ASCII is shown as "?". A name without any ASCII is
// shown as "class ID". Boxes that lie outside the picture or have a number that is not finite are
// left out. Throws Error for an empty picture.
Image draw_detections(const Image& picture, std::span<const Detection> detections,
                      const DrawDetections& how);

struct SupportCrops {
  std::int64_t category = 0;
  std::vector<Image> crops;
};

struct SupportSheet {
  std::span<const NamedClass> classes{};
  int crop_height = 96;        // height of a crop, in pixels
  std::size_t most_crops = 5;  // largest number of crops shown per class
};

// Returns one RGB picture of 8 bits. On the left, each class has a row with its name and crops.
// Rows that do not fit into the query's height begin another column. On the right is `query`, a
// picture by draw_detections. Throws Error for an empty picture.
Image support_sheet(std::span<const SupportCrops> supports, const Image& query,
                    const SupportSheet& how);

}  // namespace lockstep::fewshot
