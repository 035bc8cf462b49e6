// Checks and cuts that every reader applies to a raw box.
#pragma once

#include <optional>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// In pixels; any finite numbers.
struct RawBox {
  double x = 0, y = 0, w = 0, h = 0;
};

// The box cut at the edges of its picture, with x, y, w, h and area filled; nothing if no extent
// is left. `box` brings the other fields. Counts in `repairs` whatever happened to it.
std::optional<Box> fit_box(const RawBox& raw, Box box, const Picture& picture, Repairs& repairs);

// Throws Error, which names the set, unless it has pictures, categories and a box that counts.
void check_not_empty(const DetectionData& data);

}  // namespace lockstep::fewshot
