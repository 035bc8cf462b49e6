// A learning-rate curve for people: in words, and as a plot in plain characters.
#pragma once

#include "planning/schedule/schedule.h"

#include <cstdint>
#include <string>

namespace lockstep {

// "warm-up over 100 steps to 0.0006, then cosine to 6e-05 at step 1000".
std::string describe_curve(const Schedule& schedule, std::int64_t total_steps);

// Rate against step over [0, total_steps), about ten rows, with labelled axes. ASCII, no line wider
// than `width` (at least 30), each ended by a newline.
std::string plot_curve(const Schedule& schedule, std::int64_t total_steps, int width);

}  // namespace lockstep
