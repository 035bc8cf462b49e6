// ImageJ's description of a stack, in the first page of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::volume {

struct ImageJ {
  std::int64_t images = 1, channels = 1, slices = 1, frames = 1;
  double spacing = 0;  // between planes, in `unit`; 0: not said
  double unit_mm = 0;  // 0: not said, or pixels
};
// Nothing unless the description is ImageJ's.
std::optional<ImageJ> parse_imagej(std::string_view description);
// The millimetres of a unit as programs name it: "nm", "um", "micron", "mm", "inch" …; 0: another
// one.
double millimetres(std::string_view unit);
// unit_mm of 1; spacing 0: not said.
std::string imagej_description(std::int64_t images, double spacing_mm);

}  // namespace lockstep::volume
