// Forecasts how long a whole run takes from the times of its parts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "planning/plan.h"
#include "planning/step_estimate.h"
#include "runtime/run/progress/part_times.h"

namespace lockstep {

// The source of the times.
enum class TimeSource { run, trial, peaks };

struct MeasuredTimes {
  PartTimes parts;
  TimeSource source = TimeSource::run;
  std::string run{};  // name of the run
  double age_s = 0;   // seconds since that run
  // Seconds a step in the faster and the slower stretches of a trial; 0: unknown.
  double fast_step_s = 0, slow_step_s = 0;
};

struct Forecast {
  MeasuredTimes from;
  std::int64_t steps = 0, evaluations = 0;  // remaining ones
  double epoch_s = 0;                       // steps only; 0: the length of an epoch is unknown
  double total_s = 0;                       // from the command to its end
  double evaluations_per_step = 0;          // mean per step
  // A factor: the true time is at most that many times longer or shorter.
  double off_by() const;
};

// first_step: the step that the run resumes at. A run that stops early by patience takes less.
Forecast make_forecast(const MeasuredTimes& times, const Plan& plan, const TrainOptions& options,
                       std::int64_t first_step = 0);

// Estimates from the devices' peak. start_s: the duration of an earlier start here; 0: unknown,
// then 20 s.
MeasuredTimes times_by_peaks(const Plan& plan, const StepEstimate& step, double start_s = 0);

// Whether a trial's steps scattered so much that their times say little.
bool scatters(const MeasuredTimes& times);

// "about 1h12m: 9s to start, 0.31s a step, 5m20s an epoch, 20 evaluations of 14s; as in run a, 3h
// ago".
std::string forecast_text(const Forecast& forecast);

// The work of earlier starts of a run.
struct Begun {
  std::int64_t step = 0;
  double spent_s = 0;  // the time of stop.budget that is spent
};

// Whether the run fits into the quota, or how far it gets; "" without a quota.
// options.stop.reserve must have its final value.
std::string quota_text(const Forecast& forecast, const TrainOptions& options, const Begun& begun,
                       std::int64_t total_steps);

// Says that earlier starts have used up stop.budget, and suggests a larger one; "" if more than
// least_s are left.
std::string spent_budget_text(const TrainOptions& options, double spent_s, double least_s);
// "stop.budget=24s": a multiple of the present budget, so large that at least one present budget is
// left.
std::string raised_budget(const TrainOptions& options, double spent_s);

std::string format_seconds(double seconds);  // "12.3ms", "0.31s", "14s", "5m20s"

nlohmann::json to_json(const Forecast& forecast);

}  // namespace lockstep
