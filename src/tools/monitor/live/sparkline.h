// A row of small bars: a percentage over time.
#pragma once

#include <span>
#include <string>

namespace lockstep {

// One cell per value, oldest first. NaN (not measured) is a gap. Values are clamped to 0 to 100.
// Unicode blocks, or ASCII levels.
std::string sparkline(std::span<const float> percents, bool utf8);

}  // namespace lockstep
