// Declares one function for each kind of schedule. The function returns the kind's row of the table
// in schedule.cpp. The file also declares the functions that the curves of several kinds share.
#pragma once

#include "planning/schedule/schedule.h"

#include <cmath>
#include <numbers>

namespace lockstep {

ScheduleKind constant_schedule();
ScheduleKind linear_schedule();
ScheduleKind polynomial_schedule();
ScheduleKind cosine_schedule();
ScheduleKind step_schedule();
ScheduleKind cosine_restarts_schedule();
ScheduleKind one_cycle_schedule();

// Lengths that are converted from epochs have rounding errors. A step that is less than this
// relative tolerance below a boundary is treated as on the boundary.
inline constexpr double step_tolerance = 1e-12;

// The part that is done of the steps from the end of warm-up to total_steps, in [0, 1]. since:
// steps since the end of warm-up. Returns 0 if total_steps is 0.
double run_progress(const Schedule& schedule, double since);

// The number of whole times that `length` fits into `steps`, with step_tolerance.
double whole_lengths(double steps, double length);

// A rate on a half cosine wave between the rates `from` and `to`. progress: in [0, 1].
inline double cosine_between(double from, double to, double progress) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace lockstep
