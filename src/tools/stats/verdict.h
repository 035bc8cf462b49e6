// The conclusion about B against A: in words for people, and as yes or no for CI.
#pragma once

#include <optional>
#include <string>

#include "tools/stats/comparison.h"

namespace lockstep {

// The words for B when it has less, or more, of the measured quantity.
struct VerdictWords {
  std::string less, more;  // for a time: "faster", "slower"
};

// "slower", "no difference at the margin of 2 %", "inconclusive: would need about 40 repeats",
// "inconclusive: an interval needs two values on each side, but there are 1 and 1".
std::string verdict_text(const Contrast& contrast, double margin, const VerdictWords& words,
                         double confidence = 0.95);

// Whether B exceeds A by more than `limit`, which is on the scale of a margin and may be 0. Yes if
// the whole interval lies above it, no if none of it does. Nothing if the interval lies on both
// sides or is unknown.
std::optional<bool> more_by(const Contrast& contrast, double limit);

std::string margin_text(Scale scale, double margin);  // "2 %", "0.01"

}  // namespace lockstep
