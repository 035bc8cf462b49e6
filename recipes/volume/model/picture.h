// A volume in three planes, with its label and what was predicted.
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
  float low = 0, high = 1;                  // black and white
  std::span<const std::uint8_t> truth;      // empty: none
  std::span<const std::uint8_t> predicted;  // 0: background
  std::uint8_t no_label = 255;
  std::string title;
};

// A PNG: planes across z, y and x, side by side. Each has nearly the most foreground (of the label,
// else of the prediction), and is the nearest to the middle of such planes. Right places are green,
// missed ones blue, wrong ones red; places without a label are dark.
std::string three_planes(const PictureInput& input);

}  // namespace lockstep::volume
