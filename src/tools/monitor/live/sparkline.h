// Draws a percentage over time as a row of small bars.
#pragma once

#include <span>
#include <string>

namespace lockstep {

// Returns one cell per value, the oldest first. NaN (not measured) gives a gap. Values are clamped
// to 0 to 100. The bars are Unicode blocks if `utf8` is true, else ASCII characters.
std::string sparkline(std::span<const float> percents, bool utf8);

}  // namespace lockstep
