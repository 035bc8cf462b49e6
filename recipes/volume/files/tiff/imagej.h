// Reads and makes the description that ImageJ writes into the first page of a stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::volume {

struct ImageJ {
  std::int64_t images = 1, channels = 1, slices = 1, frames = 1;
  double spacing = 0;  // distance between planes, in the file's unit; 0 if not stated
  double unit_mm = 0;  // length of the unit in mm; 0 if not stated or unknown
};
// Returns no value if the description is not that of ImageJ.
std::optional<ImageJ> parse_imagej(std::string_view description);
// Returns how many millimetres a unit is, for example 0.001 for "micron". Knows the spellings that
// programs use: "nm", "um", "micron", "mm", "inch" and others. Returns 0 for any other text.
double millimetres(std::string_view unit);
// Makes the description of a stack of `images` planes, whose unit is mm. If spacing_mm is 0,
// readers treat the spacing as not stated.
std::string imagej_description(std::int64_t images, double spacing_mm);

}  // namespace lockstep::volume
