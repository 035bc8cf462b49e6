// The kinds of schedules, one function each that returns its row of the table in schedule.cpp, and
// the functions that their curves share.
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

// Lengths converted from epochs carry rounding errors; a step this near a boundary counts as on it.
inline constexpr double step_tolerance = 1e-12;

// Share of the way from the end of warm-up to total_steps, in [0, 1].
double run_progress(const Schedule& schedule, double since);

// The number of whole lengths in `steps`.
double whole_lengths(double steps, double length);

// Half a cosine from one rate to another; progress in [0, 1].
inline double cosine_between(double from, double to, double progress) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace lockstep
