#include "run/forecast.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "plan/interval.h"
#include "plan/words.h"
#include "run/time_left.h"

namespace lockstep {
namespace {

// An evaluation's batch is forward without backward.
constexpr double evaluation_share = 1.0 / 3;

const char* source_word(TimeSource source) {
  return source == TimeSource::run ? "run" : source == TimeSource::trial ? "trial" : "peaks";
}

std::string source_text(const MeasuredTimes& from) {
  const std::string ago = from.age_s < 60 ? "just now" : format_span(from.age_s) + " ago";
  if (from.source == TimeSource::run) return cat("as in run ", from.run, ", ", ago);
  if (from.source == TimeSource::trial) return cat("from a trial ", ago, "; may be off by a third");
  return "from the devices' peaks, so it may be off by 3 times";
}

double evaluation_batches(const Plan& plan) {
  return static_cast<double>(plan.valid_samples) /
         static_cast<double>(std::max<std::int64_t>(plan.batch.global, 1));
}

// The shorter one, and its name; 0 s: there is none. How much of the budget earlier starts have
// spent is not known here.
std::pair<double, const char*> shortest_quota(const TrainOptions& options, bool is_first_start) {
  const double after = options.stop.after.seconds;
  const double budget = is_first_start ? options.stop.budget.seconds : 0;
  if (budget > 0 && (after <= 0 || budget < after)) return {budget, "stop.budget"};
  return {after, "stop.after"};
}

}  // namespace

double Forecast::off_by() const {
  return from.source == TimeSource::run ? 1.15 : from.source == TimeSource::trial ? 1.3 : 3;
}

Forecast make_forecast(const MeasuredTimes& times, const Plan& plan, const TrainOptions& options,
                       std::int64_t first_step) {
  Forecast forecast{.from = times};
  PartTimes& parts = forecast.from.parts;
  if (parts.evaluation_s == 0)
    parts.evaluation_s = evaluation_share * evaluation_batches(plan) * parts.step_s;
  forecast.steps = std::max<std::int64_t>(plan.total_steps - first_step, 0);
  forecast.epoch_s = static_cast<double>(plan.steps_per_epoch) * parts.step_s;
  const StepInterval interval = evaluation_interval(options, plan.steps_per_epoch);
  if (const double every = interval.mean_steps(); every > 0 && plan.valid_samples > 0)
    forecast.evaluations_per_step = 1 / every;
  const auto until = [&](std::int64_t step) {
    constexpr double rounding = 1e-9;
    return static_cast<std::int64_t>(static_cast<double>(step) * forecast.evaluations_per_step +
                                     rounding);
  };
  if (plan.valid_samples > 0) {
    forecast.evaluations = until(plan.total_steps) - until(first_step);
    if (plan.total_steps > 0 && !interval.due(plan.total_steps)) ++forecast.evaluations;
    if (options.eval.at_start && first_step == 0) ++forecast.evaluations;
  }
  // The first step is part of the start.
  forecast.total_s =
      parts.start_s +
      static_cast<double>(std::max<std::int64_t>(forecast.steps - 1, 0)) * parts.step_s +
      static_cast<double>(forecast.evaluations) * parts.evaluation_s + parts.save_s;
  return forecast;
}

std::optional<MeasuredTimes> times_by_peaks(const Plan& plan) {
  // Models reach from a ninth of the peak to nearly all of it. Small ones wait for their kernels to
  // begin.
  constexpr double share_of_peak = 1.0 / 3, least_step_s = 2e-3, usual_start_s = 20;
  const ComputePlan& compute = plan.compute;
  if (compute.flops_per_step <= 0 || compute.peak_flops <= 0) return std::nullopt;
  return MeasuredTimes{
      .parts = {.start_s = usual_start_s,
                .step_s = std::max(compute.flops_per_step / (share_of_peak * compute.peak_flops),
                                   least_step_s)},
      .source = TimeSource::peaks};
}

std::string format_seconds(double seconds) {
  constexpr double short_s = 0.1, minute_s = 60, ms_per_s = 1000;
  if (seconds < short_s) return cat(general(seconds * ms_per_s, 3), "ms");
  if (seconds < minute_s) return cat(general(seconds, seconds < 10 ? 2 : 3), "s");
  return format_span(seconds);
}

std::string forecast_text(const Forecast& forecast) {
  const PartTimes& parts = forecast.from.parts;
  std::string text =
      cat("about ", format_span(forecast.total_s), ": ", format_seconds(parts.step_s), " a step");
  if (forecast.epoch_s > 0) text += cat(", ", format_seconds(forecast.epoch_s), " an epoch");
  if (forecast.evaluations > 0 && parts.evaluation_s > 0)
    text += cat(", ", count_of(forecast.evaluations, "evaluation"), " of ",
                format_seconds(parts.evaluation_s));
  return cat(text, "; ", source_text(forecast.from));
}

std::string quota_text(const Forecast& forecast, const TrainOptions& options,
                       std::int64_t first_step, std::int64_t total_steps) {
  const auto [quota_s, name] = shortest_quota(options, first_step == 0);
  if (quota_s <= 0) return "";
  const PartTimes& parts = forecast.from.parts;
  const double may_s = quota_s - options.stop.reserve.seconds, left_s = may_s - forecast.total_s;
  const std::string quota = cat(name, " = ", format_duration({quota_s}));
  const std::string kept =
      options.stop.reserve.seconds > 0 ? cat(" less ", format_duration(options.stop.reserve)) : "";
  if (left_s >= 0) return cat("fits into ", quota, kept, ": ", format_span(left_s), " are left");
  // An evaluation that does not fit is left out.
  const bool evaluates = parts.start_s + parts.evaluation_s <= may_s;
  const double per_step_s =
      parts.step_s + (evaluates ? forecast.evaluations_per_step * parts.evaluation_s : 0);
  const double steps = (may_s - parts.start_s - parts.save_s) / std::max(per_step_s, 1e-9);
  constexpr double rounding = 1e-6;
  const auto reached = static_cast<std::int64_t>(std::clamp(steps + rounding, 0.0, 1e15));
  return cat("does not fit into ", quota, kept, ", where it comes to about step ",
             std::min(first_step + reached, total_steps), " of ", total_steps,
             evaluates || forecast.evaluations == 0
                 ? ""
                 : cat("; no evaluation fits, which takes ", format_seconds(parts.evaluation_s)));
}

nlohmann::json to_json(const Forecast& forecast) {
  const PartTimes& parts = forecast.from.parts;
  return {{"step_s", parts.step_s},
          {"epoch_s", forecast.epoch_s > 0 ? nlohmann::json(forecast.epoch_s) : nullptr},
          {"evaluation_s", parts.evaluation_s},
          {"evaluations", forecast.evaluations},
          {"start_s", parts.start_s},
          {"save_s", parts.save_s},
          {"total_s", forecast.total_s},
          {"source", source_word(forecast.from.source)},
          {"run", forecast.from.run},
          {"age_s", forecast.from.age_s},
          {"off_by", forecast.off_by()}};
}

}  // namespace lockstep
