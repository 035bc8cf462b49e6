// Forecasts the duration of a whole run from the times of its parts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "planning/plan.h"
#include "planning/step_estimate.h"
#include "runtime/run/progress/part_times.h"

namespace lockstep {

// The source of the times: an earlier run, a short trial, or the devices' peak FLOP/s.
enum class TimeSource { run, trial, peaks };

struct MeasuredTimes {
  PartTimes parts;
  TimeSource source = TimeSource::run;
  std::string run{};  // name of the earlier run
  double age_s = 0;   // seconds since the measurement
  // Seconds per step in the faster and the slower stretches of a trial; 0 = unknown.
  double fast_step_s = 0, slow_step_s = 0;
};

struct Forecast {
  MeasuredTimes from;
  std::int64_t steps = 0, evaluations = 0;  // remaining steps and evaluations
  // time of an epoch without evaluations; 0 = its length is unknown
  double epoch_s = 0;
  double total_s = 0;               // time from the start of the command to its end
  double evaluations_per_step = 0;  // mean number per step
  // The uncertainty as a factor. The true time is expected to be at most this many times longer or
  // shorter.
  double off_by() const;
};

// first_step: the step from which the run resumes. A run that patience ends early takes less time.
Forecast make_forecast(const MeasuredTimes& times, const Plan& plan, const TrainOptions& options,
                       std::int64_t first_step = 0);

// Estimates the times from the devices' peak. start_s: the duration of an earlier start on these
// devices. If it is 0, 20 s are assumed.
MeasuredTimes times_by_peaks(const Plan& plan, const StepEstimate& step, double start_s = 0);

// Whether the steps of a trial differed so much that their times are not reliable.
bool scatters(const MeasuredTimes& times);

// "about 1h12m: 9s to start, 0.31s a step, 5m20s an epoch, 20 evaluations of 14s; as in run a, 3h
// ago".
std::string forecast_text(const Forecast& forecast);

// The progress that earlier starts of a run made.
struct Begun {
  std::int64_t step = 0;
  double spent_s = 0;  // the part of stop.budget that they used
};

// Whether the run fits into its quota, and if not, how many steps it reaches. Empty without a
// quota. options.stop.reserve must have its final value.
std::string quota_text(const Forecast& forecast, const TrainOptions& options, const Begun& begun,
                       std::int64_t total_steps);

// Reports that earlier starts have used up stop.budget, and suggests a larger one. Empty if more
// than least_s are left after stop.reserve.
std::string spent_budget_text(const TrainOptions& options, double spent_s, double least_s);
// "stop.budget=24s": a multiple of the present budget. With it, at least half of the present budget
// is left.
std::string raised_budget(const TrainOptions& options, double spent_s);

std::string format_seconds(double seconds);  // "12.3ms", "0.31s", "14s", "5m20s"

nlohmann::json to_json(const Forecast& forecast);

}  // namespace lockstep
