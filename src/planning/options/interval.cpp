#include "planning/options/interval.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {
namespace {

// The number of whole lengths that fit. In floating point, 0.7 x 10 is slightly above 7, so the
// quotient is rounded up by a tiny amount.
double whole(double steps, double length) { return std::floor(steps / length * (1 + 1e-12)); }

}  // namespace

bool StepInterval::due(std::int64_t step) const {
  if (step <= 0) return false;
  if (steps > 0 && step % steps == 0) return true;
  const double length = epochs * static_cast<double>(steps_per_epoch);
  return length > 0 &&
         whole(static_cast<double>(step), length) > whole(static_cast<double>(step - 1), length);
}

double StepInterval::mean_steps() const {
  const double by_epochs = std::max(epochs * static_cast<double>(steps_per_epoch), 0.0);
  const auto by_steps = static_cast<double>(steps);
  if (by_epochs == 0 || by_steps == 0) return std::max(by_epochs, by_steps);
  return std::min(by_epochs, by_steps);
}

StepInterval evaluation_interval(const TrainOptions& options, std::int64_t steps_per_epoch) {
  return {options.eval.every_steps, options.eval.every_epochs, steps_per_epoch};
}

StepInterval checkpoint_interval(const TrainOptions& options, std::int64_t steps_per_epoch) {
  return {options.checkpoint.every_steps, options.checkpoint.every_epochs, steps_per_epoch};
}

void check_intervals(const TrainOptions& options, std::int64_t steps_per_epoch) {
  const bool patient = options.stop.patience > 0 || options.stop.patience_epochs > 0;
  if (patient && options.eval.every_steps == 0 && options.eval.every_epochs == 0)
    throw Error("stop.patience goes by evaluations, but none is due before the end of the run",
                "set eval.every_steps or eval.every_epochs");
  if (steps_per_epoch > 0) return;
  for (const auto& [key, epochs] : {std::pair{"eval.every_epochs", options.eval.every_epochs},
                                    {"checkpoint.every_epochs", options.checkpoint.every_epochs},
                                    {"stop.patience_epochs", options.stop.patience_epochs}})
    if (epochs > 0)
      throw Error(cat(key, " counts epochs, but the number of training samples is not known"),
                  "count steps or evaluations instead");
}

}  // namespace lockstep
