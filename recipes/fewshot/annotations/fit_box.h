// Checks and cuts a raw box, as every reader does.
#pragma once

#include <optional>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// In pixels; any finite numbers.
struct RawBox {
  double x = 0, y = 0, w = 0, h = 0;
};

// Returns the box, cut at the edges of its picture, with x, y, w, h and area filled in. Nothing if
// no extent is left. The other fields come from `box`. Counts in `repairs` what was done.
std::optional<Box> fit_box(const RawBox& raw, Box box, const Picture& picture, Repairs& repairs);

// Throws Error, which names the set, unless the set has pictures, categories and a box that counts.
void check_not_empty(const DetectionData& data);

}  // namespace lockstep::fewshot
