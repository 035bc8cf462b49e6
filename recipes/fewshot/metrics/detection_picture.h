// Pictures with their detections, and the supports beside them.
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
  std::span<const NamedClass> classes{};  // names, and colours by their place
  // Gold boxes of this picture, which tell right from wrong at IoU 0.5; nothing: not known.
  std::optional<std::span<const TrueBox>> truths{};
  std::size_t most = 100;  // detections; those of the highest scores are drawn
  int shorter_side = 640;  // pixels to which a smaller picture is enlarged, at most 4 times
};

// The picture as RGB of 8 bits with a frame per detection in its class's colour and a label with
// name and score. Gold boxes are dashed, and those that were missed have their name on white. A
// detection that finds none of them is crossed out and its label begins with "wrong". Picture ids
// of the boxes are not looked at. Names are cut if they are long; each character beyond ASCII is
// shown as "?", a name without any of ASCII as "class ID". Boxes that are not finite or lie outside
// are left out. Throws Error for an empty picture.
Image draw_detections(const Image& picture, std::span<const Detection> detections,
                      const DrawDetections& how);

struct SupportCrops {
  std::int64_t category = 0;
  std::vector<Image> crops;
};

struct SupportSheet {
  std::span<const NamedClass> classes{};
  int crop_height = 96;        // pixels
  std::size_t most_crops = 5;  // of a class; more are counted
};

// A row per class with its name and crops, in as many columns as the query's height asks for, and
// `query` (draw_detections' picture) to the right of them, as one RGB picture of 8 bits. Throws
// Error for an empty picture.
Image support_sheet(std::span<const SupportCrops> supports, const Image& query,
                    const SupportSheet& how);

}  // namespace lockstep::fewshot
