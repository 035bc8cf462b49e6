// ImageJ's description of a stack, in the first page of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::volume {

struct ImageJ {
  std::int64_t images = 1, channels = 1, slices = 1, frames = 1;
  double spacing = 0;  // between planes, in `unit`; 0: not stated
  double unit_mm = 0;  // 0: not stated, or the unit is pixels
};
// Nothing unless the description was written by ImageJ.
std::optional<ImageJ> parse_imagej(std::string_view description);
// The millimetres of a unit in the spelling of programs: "nm", "um", "micron", "mm", "inch" …; 0
// for any other unit.
double millimetres(std::string_view unit);
// Makes a description with unit_mm = 1. spacing 0: the spacing is not stated.
std::string imagej_description(std::int64_t images, double spacing_mm);

}  // namespace lockstep::volume
