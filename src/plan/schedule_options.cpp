// From options to a schedule: the rate scaled to the global batch, epochs turned into steps, and
// the number of steps of the run.
#include "plan/schedule_options.h"

#include "base/error.h"
#include "base/text.h"
#include "plan/words.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

// Every whole number up to here is exact as a double.
constexpr double most_steps = 0x1p53;

void need_epoch_length(const char* key, std::int64_t steps_per_epoch, const char* hint) {
  if (steps_per_epoch > 0) return;
  throw Error(cat(key, " counts epochs, but the number of training samples is not known"), hint);
}

// 0.7 x 10 is a hair above 7 in floating point, and must not become 8.
double round_up(double steps) { return std::ceil(steps - steps * 1e-12); }

void need_positive(const char* key, double value, const char* kind) {
  if (value > 0) return;
  throw Error(
      cat("schedule.kind = ", kind, " needs ", key, " above 0, but it is ", general(value, 6)),
      cat("set ", key, ", in the unit of schedule.unit"));
}

// With less growth there may be any number of cycles.
constexpr double least_period_mult = 1.01;
bool is_period_mult(double mult) { return mult == 1 || mult >= least_period_mult; }

void check_curve(const TrainOptions& options, const Schedule& schedule) {
  const auto& wish = options.schedule;
  if (schedule.kind == ScheduleKind::step) need_positive("schedule.every", wish.every, "step");
  if (schedule.kind == ScheduleKind::cosine_restarts) {
    need_positive("schedule.period", wish.period, "cosine_restarts");
    if (schedule.period_steps < 1)
      throw Error(cat("schedule.period must be at least a step, but is ",
                      general(schedule.period_steps, 6), " steps"),
                  "set schedule.period to more");
    if (!is_period_mult(wish.period_mult))
      throw Error(cat("schedule.period_mult must be 1, or at least ", least_period_mult,
                      ", but is ", general(wish.period_mult, 6)),
                  "set schedule.period_mult to 1 for equal periods, or to 2 to double each");
  }
  if (schedule.kind != ScheduleKind::constant && schedule.min_lr > schedule.base_lr)
    throw Error(cat("schedule.min_lr must be at most the learning rate ",
                    rate_text(schedule.base_lr), ", but is ", rate_text(schedule.min_lr)),
                "lower schedule.min_lr, or raise optimizer.lr");
}

}  // namespace

std::int64_t count_steps(const TrainOptions& options, std::int64_t steps_per_epoch) {
  const auto& stop = options.stop;
  if (stop.steps <= 0 && stop.epochs <= 0)
    throw Error("the length of the run is not set", "set stop.steps or stop.epochs");
  double steps = stop.steps > 0 ? static_cast<double>(stop.steps) : most_steps;
  if (stop.epochs > 0) {
    need_epoch_length("stop.epochs", steps_per_epoch, "set stop.steps instead");
    steps = std::min(steps, round_up(stop.epochs * static_cast<double>(steps_per_epoch)));
  }
  return static_cast<std::int64_t>(std::clamp(steps, 1.0, most_steps));
}

double scaled_rate(const TrainOptions& options, std::int64_t global) {
  const auto& optimizer = options.optimizer;
  if (optimizer.scale_lr == ScaleLr::none) return optimizer.lr;
  if (optimizer.base_batch <= 0)
    throw Error(
        "scale_lr needs the global batch that optimizer.lr was chosen for, but it is not set",
        "set optimizer.base_batch, or optimizer.scale_lr to none");
  const double ratio = static_cast<double>(global) / static_cast<double>(optimizer.base_batch);
  return optimizer.lr * (optimizer.scale_lr == ScaleLr::linear ? ratio : std::sqrt(ratio));
}

bool can_be_asked(const Schedule& schedule) {
  switch (schedule.kind) {
    case ScheduleKind::step:
      return schedule.every_steps > 0;
    case ScheduleKind::cosine_restarts:
      return schedule.period_steps >= 1 && is_period_mult(schedule.period_mult);
    default:
      return true;
  }
}

Schedule make_schedule(const TrainOptions& options, std::int64_t global,
                       std::int64_t steps_per_epoch, std::int64_t total_steps) {
  const auto& wish = options.schedule;
  double unit_steps = 1;
  if (wish.unit == TimeUnit::epochs) {
    const bool uses_unit = wish.warmup > 0 || wish.kind == ScheduleKind::step ||
                           wish.kind == ScheduleKind::cosine_restarts;
    if (uses_unit)
      need_epoch_length("schedule.unit = epochs", steps_per_epoch, "set schedule.unit to steps");
    unit_steps = static_cast<double>(steps_per_epoch);
  }
  const Schedule schedule{.kind = wish.kind,
                          .base_lr = scaled_rate(options, global),
                          .min_lr = wish.min_lr,
                          .warmup_steps = wish.warmup * unit_steps,
                          .total_steps = static_cast<double>(total_steps),
                          .power = wish.power,
                          .every_steps = wish.every * unit_steps,
                          .gamma = wish.gamma,
                          .period_steps = wish.period * unit_steps,
                          .period_mult = wish.period_mult};
  check_curve(options, schedule);
  return schedule;
}

}  // namespace lockstep
