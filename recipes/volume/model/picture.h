// Draws a volume in three planes, with its label and its prediction.
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
  float low = 0, high = 1;                  // the values shown as black and as white
  std::span<const std::uint8_t> truth;      // empty: none
  std::span<const std::uint8_t> predicted;  // 0: background
  std::uint8_t no_label = 255;
  std::string title;
};

// A PNG with planes across z, y and x, side by side. For each axis, it takes a plane that has
// nearly the most foreground (of the label, else of the prediction), and among such planes the one
// nearest to the middle. Right voxels are green, missed ones blue, wrong ones red. Voxels without a
// label are dark.
std::string three_planes(const PictureInput& input);

}  // namespace lockstep::volume
