// The learning-rate curves.
#include "plan/schedule.h"

#include "base/check.h"
#include "plan/train_options.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lockstep {
namespace {

// Lengths converted from epochs carry rounding errors; a step this near a boundary stands on it.
constexpr double tolerance = 1e-12;

double whole_lengths(double steps, double length) {
  return std::floor(steps / length * (1 + tolerance));
}

// How far step `since` is through its cycle, in [0, 1). Cycles last period, period * mult, … steps.
double cycle_progress(double since, double period, double mult) {
  LOCKSTEP_CHECK(period > 0 && mult >= 1);
  double start = 0;
  if (mult == 1) {
    start = whole_lengths(since, period) * period;
  } else {
    while (since * (1 + tolerance) >= start + period) {
      start += period;
      period *= mult;
    }
  }
  return std::clamp((since - start) / period, 0.0, 1.0);
}

double cosine(double from, double to, double progress) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

// Share of the way from the end of warm-up to total_steps.
double run_progress(const Schedule& schedule, double since) {
  if (schedule.total_steps <= 0) return 0;
  const double length = schedule.total_steps - schedule.warmup_steps;
  return length <= 0 ? 1 : std::min(1.0, since / length);
}

}  // namespace

double learning_rate(const Schedule& schedule, std::int64_t step) {
  const double base = schedule.base_lr, floor = schedule.min_lr;
  if (step < schedule.warmup_steps)
    return base * std::min(1.0, static_cast<double>(step + 1) / schedule.warmup_steps);
  const double since = static_cast<double>(step) - schedule.warmup_steps;
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return base;
    case ScheduleKind::step:
      LOCKSTEP_CHECK(schedule.every_steps > 0);
      return std::max(floor,
                      base * std::pow(schedule.gamma, whole_lengths(since, schedule.every_steps)));
    case ScheduleKind::linear:
      return floor + (base - floor) * (1 - run_progress(schedule, since));
    case ScheduleKind::polynomial:
      return floor + (base - floor) * std::pow(1 - run_progress(schedule, since), schedule.power);
    case ScheduleKind::cosine:
      return cosine(base, floor, run_progress(schedule, since));
    case ScheduleKind::cosine_restarts:
      return cosine(base, floor,
                    cycle_progress(since, schedule.period_steps, schedule.period_mult));
  }
  LOCKSTEP_CHECK(!"a schedule kind without a curve");
  return base;
}

}  // namespace lockstep
