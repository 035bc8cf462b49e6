// What may be said of B against A: in words for people, and as yes or no for CI.
#pragma once

#include <optional>
#include <string>

#include "stats/comparison.h"

namespace lockstep {

// How B is called where it has less, or more, of what was measured.
struct VerdictWords {
  std::string less, more;  // of a time: "faster", "slower"
};

// "slower", "no difference at the margin of 2 %", "inconclusive: would need about 40 repeats",
// "inconclusive: an interval needs two values on each side, but there are 1 and 1".
std::string verdict_text(const Contrast& contrast, double margin, const VerdictWords& words,
                         double confidence = 0.95);

// Whether B is more than A by above `limit`, relative as a margin is (0 is allowed): yes where the
// whole interval lies above it, no where none of it does, nothing where it lies on both sides or is
// not known.
std::optional<bool> more_by(const Contrast& contrast, double limit);

std::string margin_text(Scale scale, double margin);  // "2 %", "0.01"

}  // namespace lockstep
