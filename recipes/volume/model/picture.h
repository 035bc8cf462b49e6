// Draws three planes of a volume, with the labels and the prediction.
#pragma once

#include "recipes/volume/metrics/mask.h"

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::volume {

struct PictureInput {
  Shape shape{};
  Spacing spacing{1, 1, 1};
  std::span<const float> values;            // [D, H, W]
  float low = 0, high = 1;                  // values drawn as black and as white
  std::span<const std::uint8_t> truth;      // empty if the truth is not known
  std::span<const std::uint8_t> predicted;  // 0 is background
  std::uint8_t no_label = 255;
  std::string title;
};

// Returns a PNG with three planes side by side: one perpendicular to each of the axes z, y and x.
// For each axis, the planes with at least 80 % of the largest amount of foreground are candidates.
// The candidate nearest to the middle of the axis is shown. Foreground is counted in the truth, or
// in the prediction if the truth has no foreground. Correctly predicted foreground is green, missed
// foreground is blue, and wrongly predicted foreground is red. Voxels whose truth is no_label are
// dark.
std::string three_planes(const PictureInput& input);

}  // namespace lockstep::volume
