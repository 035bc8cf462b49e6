// Draws pictures with their detections, and with the supports beside them.
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
  std::span<const NamedClass> classes{};  // names; colours follow from positions in this list
  // Gold boxes of this picture, by which detections are right or wrong at IoU 0.5. Nothing:
  // unknown.
  std::optional<std::span<const TrueBox>> truths{};
  std::size_t most = 100;  // most detections drawn: those with the highest scores
  int shorter_side = 640;  // a smaller picture is enlarged to this many pixels, at most 4 times
};

// The picture as RGB of 8 bits. Each detection has a frame in its class's colour, and a label with
// name and score. Gold boxes are dashed, and missed ones have their name on white. A detection that
// matches no gold box is crossed out, and its label begins with "wrong". Picture ids of the boxes
// are ignored. Long names are cut. Each character beyond ASCII is shown as "?", and a name without
// any ASCII as "class ID". Boxes that are not finite or lie outside are left out. Throws Error for
// an empty picture.
Image draw_detections(const Image& picture, std::span<const Detection> detections,
                      const DrawDetections& how);

struct SupportCrops {
  std::int64_t category = 0;
  std::vector<Image> crops;
};

struct SupportSheet {
  std::span<const NamedClass> classes{};
  int crop_height = 96;        // pixels
  std::size_t most_crops = 5;  // of a class; further ones are only counted
};

// One RGB picture of 8 bits. On the left is a row per class with its name and crops, in as many
// columns as the query's height requires. On the right is `query` (draw_detections' picture).
// Throws Error for an empty picture.
Image support_sheet(std::span<const SupportCrops> supports, const Image& query,
                    const SupportSheet& how);

}  // namespace lockstep::fewshot
