// Draws pictures with their detections, and the supports (labelled examples of classes) beside
// them.
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
  // names of classes; the position in this list decides a class's colour
  std::span<const NamedClass> classes{};
  // The true boxes of this picture. A detection is right if it matches one of them at IoU 0.5. If
  // `truths` is absent, detections are not marked as right or wrong.
  std::optional<std::span<const TrueBox>> truths{};
  std::size_t most = 100;  // largest number of detections drawn; the highest scores are chosen
  // in pixels; a smaller picture is enlarged to this, but at most by a factor of 4
  int shorter_side = 640;
};

// Returns the picture with its detections, RGB of 8 bits. Each detection has a frame in its class's
// colour, and a label with the class's name and the score. Frames of true boxes are dashed. A true
// box that no detection matches has a white label with its class's name. A detection that matches
// no true box is crossed out, and its label begins with "wrong". The members `picture` of the boxes
// are ignored.
//
// Long names of classes are cut. Each character beyond ASCII is shown as "?". A name without any
// ASCII character is shown as "class ID". Boxes that lie outside the picture or have a number that
// is not finite are left out. Throws Error for an empty picture.
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
// Rows that do not fit into the height of `query` begin another column. On the right is `query`,
// the result of draw_detections. Throws Error for an empty picture.
Image support_sheet(std::span<const SupportCrops> supports, const Image& query,
                    const SupportSheet& how);

}  // namespace lockstep::fewshot
