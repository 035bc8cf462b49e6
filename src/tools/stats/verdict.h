// Writes the conclusion about B compared with A: in words for people, and as yes or no for CI.
#pragma once

#include <optional>
#include <string>

#include "tools/stats/comparison.h"

namespace lockstep {

// The words for B if it has less, or more, of the measured quantity.
struct VerdictWords {
  std::string less, more;  // "faster" and "slower" for a time
};

// Returns text such as "slower", "no difference at the margin of 2 %", "inconclusive: would need
// about 40 repeats", or "inconclusive: an interval needs two values on each side, but there are 1
// and 1".
std::string verdict_text(const Contrast& contrast, double margin, const VerdictWords& words,
                         double confidence = 0.95);

// Whether B exceeds A by more than `limit`. limit: in the form of a margin, but it may also be 0.
// Returns true if the whole interval lies above the limit, and false if no part of it does. Returns
// nothing if the interval contains the limit, or is unknown. Throws Error if the limit is negative.
std::optional<bool> more_by(const Contrast& contrast, double limit);

std::string margin_text(Scale scale, double margin);  // "2 %", "0.01"

}  // namespace lockstep
