// Shows a learning-rate curve to people: in words, and as a plot in ASCII.
#pragma once

#include "planning/schedule/schedule.h"

#include <cstdint>
#include <string>

namespace lockstep {

// "warm-up over 100 steps to 0.0006, then cosine to 6e-05 at step 1000".
std::string describe_curve(const Schedule& schedule, std::int64_t total_steps);

// Plots the rate against the step over [0, total_steps), in about ten rows with labelled axes. Each
// line ends with a newline and has at most `width` characters (at least 30).
std::string plot_curve(const Schedule& schedule, std::int64_t total_steps, int width);

}  // namespace lockstep
