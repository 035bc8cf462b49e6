// Forecasts the duration of a whole run from the times of its parts: start, steps, evaluations,
// saves.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "planning/plan.h"
#include "planning/step_estimate.h"
#include "runtime/run/progress/part_times.h"

namespace lockstep {

// The source of the times: an earlier run, a trial (a few training steps, to measure their time),
// or the devices' peak FLOP/s.
enum class TimeSource { run, trial, peaks };

struct MeasuredTimes {
  PartTimes parts;
  TimeSource source = TimeSource::run;
  std::string run{};  // name of the earlier run
  double age_s = 0;   // seconds since the measurement
  // In a trial: the lower and upper quartile of the seconds per step (steady_steps.h); 0 = unknown.
  double fast_step_s = 0, slow_step_s = 0;
};

struct Forecast {
  MeasuredTimes from;
  std::int64_t steps = 0, evaluations = 0;  // number of remaining steps and evaluations
  // time of an epoch without evaluations; 0 = its length is unknown
  double epoch_s = 0;
  double total_s = 0;               // time from the start of the command to the end of the run
  double evaluations_per_step = 0;  // mean number of evaluations per step
  // The uncertainty of total_s as a factor. The true time is expected to be at most this many times
  // longer or shorter.
  double off_by() const;
};

// first_step: the step from which the run resumes. The forecast assumes that the run is not ended
// early by the option for patience.
Forecast make_forecast(const MeasuredTimes& times, const Plan& plan, const TrainOptions& options,
                       std::int64_t first_step = 0);

// Estimates the times from the devices' peak FLOP/s. start_s: how long an earlier run took to start
// on these devices. If it is 0, 20 s are assumed.
MeasuredTimes times_by_peaks(const Plan& plan, const StepEstimate& step, double start_s = 0);

// Whether the times are from a trial whose steps differed so much that the times are not reliable.
bool scatters(const MeasuredTimes& times);

// Returns, for example, "about 1h12m: 9s to start, 0.31s a step, 5m20s an epoch, 20 evaluations of
// 14s; as in run a, 3h ago".
std::string forecast_text(const Forecast& forecast);

// The progress that a run made before it is resumed.
struct Begun {
  std::int64_t step = 0;
  double spent_s = 0;  // the part of stop.budget that was used
};

// Says whether the run fits into its quota, which is the shorter of stop.after and the rest of
// stop.budget. If not, says which step the run reaches. Empty if neither option is set.
// options.stop.reserve must have its final value.
std::string quota_text(const Forecast& forecast, const TrainOptions& options, const Begun& begun,
                       std::int64_t total_steps);

// Says that the run used up stop.budget before this resume, and suggests a larger budget. Empty if
// more than least_s seconds are left after stop.reserve is subtracted.
std::string spent_budget_text(const TrainOptions& options, double spent_s, double least_s);
// Returns an assignment such as "stop.budget=24s". The new budget is a multiple of the present one.
// It leaves time of at least half the present budget.
std::string raised_budget(const TrainOptions& options, double spent_s);

std::string format_seconds(double seconds);  // "12.3ms", "0.31s", "14s", "5m20s"

nlohmann::json to_json(const Forecast& forecast);

}  // namespace lockstep
