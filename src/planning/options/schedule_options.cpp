// Converts options to a schedule. Scales the rate to the global batch, turns epochs into steps, and
// finds the number of steps of the run.
#include "planning/options/schedule_options.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/words.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lockstep {
namespace {

// Whole numbers up to here are exact as a double.
constexpr double most_steps = 0x1p53;

void need_epoch_length(const char* key, std::int64_t steps_per_epoch, const char* hint) {
  if (steps_per_epoch > 0) return;
  throw Error(cat(key, " counts epochs, but the number of training samples is not known"), hint);
}

// In floating point, 0.7 x 10 is slightly above 7, and must not become 8.
double round_up(double steps) { return std::ceil(steps - steps * 1e-12); }

void check_curve(const Schedule& schedule) {
  if (const std::optional<Error> fault = schedule_fault(schedule)) throw *fault;
  if (schedule.kind->uses_min_lr && schedule.min_lr > schedule.base_lr)
    throw Error(cat("schedule.min_lr must be at most the learning rate ",
                    rate_text(schedule.base_lr), ", but is ", rate_text(schedule.min_lr)),
                "lower schedule.min_lr, or raise optimizer.lr");
}

}  // namespace

double steps_of_epochs(double epochs, std::int64_t steps_per_epoch) {
  return round_up(epochs * static_cast<double>(steps_per_epoch));
}

std::int64_t count_steps(const TrainOptions& options, std::int64_t steps_per_epoch) {
  const auto& stop = options.stop;
  if (stop.steps <= 0 && stop.epochs <= 0)
    throw Error("the length of the run is not set", "set stop.steps or stop.epochs");
  double steps = stop.steps > 0 ? static_cast<double>(stop.steps) : most_steps;
  if (stop.epochs > 0) {
    need_epoch_length("stop.epochs", steps_per_epoch, "set stop.steps instead");
    steps = std::min(steps, steps_of_epochs(stop.epochs, steps_per_epoch));
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

Schedule make_schedule(const TrainOptions& options, std::int64_t global,
                       std::int64_t steps_per_epoch, std::int64_t total_steps) {
  const auto& asked = options.schedule;
  const ScheduleKind* const kind = find_schedule_kind(asked.kind);
  LOCKSTEP_CHECK(kind != nullptr);  // the choices of the option are the table's names
  Schedule schedule{.kind = kind,
                    .base_lr = scaled_rate(options, global),
                    .min_lr = asked.min_lr,
                    .warmup_steps = kind->uses_warmup ? asked.warmup : 0,
                    .total_steps = static_cast<double>(total_steps)};
  bool uses_unit = schedule.warmup_steps > 0;
  for (const ScheduleParameter& parameter : kind->parameters) {
    schedule.parameters.push_back(asked.parameters.at(parameter.name));
    uses_unit = uses_unit || parameter.is_length;
  }
  if (asked.unit == TimeUnit::epochs) {
    if (uses_unit)
      need_epoch_length("schedule.unit = epochs", steps_per_epoch, "set schedule.unit to steps");
    const auto unit_steps = static_cast<double>(steps_per_epoch);
    schedule.warmup_steps *= unit_steps;
    for (std::size_t i = 0; i < kind->parameters.size(); ++i)
      if (kind->parameters[i].is_length) schedule.parameters[i] *= unit_steps;
  }
  check_curve(schedule);
  return schedule;
}

}  // namespace lockstep
