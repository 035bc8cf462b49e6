// Draws a percentage over time as a row of small bars.
#pragma once

#include <span>
#include <string>

namespace lockstep {

// Returns one terminal cell per value. The values are in the order of time. NaN (not measured)
// gives a gap. Values are clamped to 0 to 100. The bars are Unicode blocks if `utf8` is true, else
// ASCII characters.
std::string sparkline(std::span<const float> percents, bool utf8);

}  // namespace lockstep
