// How long a whole run takes, from what its parts take.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "plan/plan.h"
#include "plan/step_estimate.h"
#include "run/part_times.h"

namespace lockstep {

// Where the times of the parts come from.
enum class TimeSource { run, trial, peaks };

struct MeasuredTimes {
  PartTimes parts;
  TimeSource source = TimeSource::run;
  std::string run{};  // its name
  double age_s = 0;   // since then
  // Of a trial's steps: how long the faster and the slower stretches took a step; 0: not known.
  double fast_step_s = 0, slow_step_s = 0;
};

struct Forecast {
  MeasuredTimes from;
  std::int64_t steps = 0, evaluations = 0;  // that are left
  double epoch_s = 0;                       // steps alone; 0: an epoch's length is not known
  double total_s = 0;                       // from the command to its end
  double evaluations_per_step = 0;          // the mean
  // The truth is at most so many times as long, or as short.
  double off_by() const;
};

// first_step: where the run goes on. A run that ends early by patience takes less.
Forecast make_forecast(const MeasuredTimes& times, const Plan& plan, const TrainOptions& options,
                       std::int64_t first_step = 0);

// By the peak of the devices. start_s: what a start took here before; 0: not known, then 20 s.
MeasuredTimes times_by_peaks(const Plan& plan, const StepEstimate& step, double start_s = 0);

// Whether a trial's steps scattered so much that it tells little.
bool scatters(const MeasuredTimes& times);

// "about 1h12m: 9s to start, 0.31s a step, 5m20s an epoch, 20 evaluations of 14s; as in run a, 3h
// ago".
std::string forecast_text(const Forecast& forecast);

// Whether it fits into the quota, or how far it comes; "" without a quota, and of stop.budget where
// the run goes on. options.stop.reserve is
// set as it will be.
std::string quota_text(const Forecast& forecast, const TrainOptions& options,
                       std::int64_t first_step, std::int64_t total_steps);

std::string format_seconds(double seconds);  // "12.3ms", "0.31s", "14s", "5m20s"

nlohmann::json to_json(const Forecast& forecast);

}  // namespace lockstep
