// Reads and makes the description that ImageJ writes into the first page of a stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::volume {

struct ImageJ {
  std::int64_t images = 1, channels = 1, slices = 1, frames = 1;
  double spacing = 0;  // between planes, in the file's unit; 0 if not stated
  double unit_mm = 0;  // millimetres of the unit; 0 if not stated or not a length
};
// Returns nothing if the description is not in ImageJ's form.
std::optional<ImageJ> parse_imagej(std::string_view description);
// Returns how many millimetres a unit is, for example 0.001 for "micron". Knows the spellings that
// programs use: "nm", "um", "micron", "mm", "inch" and others. Returns 0 for any other text.
double millimetres(std::string_view unit);
// Makes a description whose unit is mm. If spacing_mm is 0, readers take the spacing as not stated.
std::string imagej_description(std::int64_t images, double spacing_mm);

}  // namespace lockstep::volume
