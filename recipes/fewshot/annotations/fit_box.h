// Cuts raw boxes at the edges of their pictures. The readers of all formats use it.
#pragma once

#include <optional>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// A box as a file states it, in pixels. The numbers are finite; w and h may be negative.
struct RawBox {
  double x = 0, y = 0, w = 0, h = 0;
};

// Returns `box` with x, y, w and h of `raw`, cut at the edges of the picture. If box.area is not
// above 0, it becomes w x h. Returns nothing if a side is shorter than least_extent after the cut.
// Counts the box in `repairs` if it was cut or dropped, or is a crowd or difficult.
std::optional<Box> fit_box(const RawBox& raw, Box box, const Picture& picture, Repairs& repairs);

// Throws Error, which names the data set, if it has no pictures, no categories, or no box that
// counts (Box::counts).
void check_not_empty(const DetectionData& data);

}  // namespace lockstep::fewshot
