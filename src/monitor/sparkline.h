// A row of small bars: how a share of 100 went over time.
#pragma once

#include <span>
#include <string>

namespace lockstep {

// A cell a value, oldest first; NaN, which was not measured, is a gap. Values beyond 0 and 100
// count as these. Blocks of Unicode, or levels of ASCII.
std::string sparkline(std::span<const float> percents, bool utf8);

}  // namespace lockstep
