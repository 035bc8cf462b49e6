#include "runtime/run/progress/forecast.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "planning/options/interval.h"
#include "planning/words.h"
#include "runtime/run/progress/time_left.h"

namespace lockstep {
namespace {

// Evaluation runs forward only, which takes about a third of a training step.
constexpr double evaluation_share = 1.0 / 3;

const char* source_word(TimeSource source) {
  return source == TimeSource::run ? "run" : source == TimeSource::trial ? "trial" : "peaks";
}

std::string source_text(const MeasuredTimes& from) {
  const std::string ago = from.age_s < 60 ? "just now" : format_span(from.age_s) + " ago";
  if (from.source == TimeSource::run) return cat("as in run ", from.run, ", ", ago);
  if (from.source == TimeSource::trial)
    return cat("from a trial ", ago,
               scatters(from) ? cat(", whose steps took from ", format_seconds(from.fast_step_s),
                                    " to ", format_seconds(from.slow_step_s),
                                    ": try again when nothing else runs here")
                              : "; may be off by a third");
  return "from the devices' peaks, so it may be off by 3 times";
}

// The time of one evaluation, as a number of training steps.
double steps_of_evaluation(const Plan& plan) {
  return evaluation_share * plan.evaluation_passes /
         static_cast<double>(std::max<std::int64_t>(plan.batch.global, 1));
}

// The estimated time of an evaluation on the rank that has the most validation samples. Each sample
// lies on one rank.
double evaluation_by(const Plan& plan, const StepEstimate& step) {
  if (plan.valid_samples <= 0) return 0;
  const auto most = static_cast<double>((plan.valid_samples - 1) / step.devices + 1);
  return evaluation_share * step.sample_s * plan.evaluation_passes * most /
         static_cast<double>(plan.valid_samples);
}

// The quota that ends this start of the run first.
struct ShortestQuota {
  double left_s = 0;  // 0 = there is none
  std::string text{};
};

ShortestQuota shortest_quota(const TrainOptions& options, double spent_s) {
  const Duration after = options.stop.after, budget = options.stop.budget;
  const double left_s = budget.seconds - spent_s;
  if (budget.seconds <= 0 || (after.seconds > 0 && after.seconds <= left_s))
    return {after.seconds, cat("stop.after = ", format_duration(after))};
  return {left_s, cat("stop.budget = ", format_duration(budget),
                      spent_s > 0 ? cat(" (", format_span(spent_s), " used)") : "")};
}

}  // namespace

double Forecast::off_by() const {
  if (scatters(from)) return from.slow_step_s / from.fast_step_s;
  return from.source == TimeSource::run ? 1.15 : from.source == TimeSource::trial ? 1.3 : 3;
}

bool scatters(const MeasuredTimes& times) {
  constexpr double most = 1.5;
  return times.source == TimeSource::trial && times.fast_step_s > 0 &&
         times.slow_step_s > most * times.fast_step_s;
}

Forecast make_forecast(const MeasuredTimes& times, const Plan& plan, const TrainOptions& options,
                       std::int64_t first_step) {
  Forecast forecast{.from = times};
  PartTimes& parts = forecast.from.parts;
  if (parts.evaluation_s == 0) parts.evaluation_s = steps_of_evaluation(plan) * parts.step_s;
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
  // The time to start includes the first step.
  forecast.total_s =
      parts.start_s +
      static_cast<double>(std::max<std::int64_t>(forecast.steps - 1, 0)) * parts.step_s +
      static_cast<double>(forecast.evaluations) * parts.evaluation_s + parts.save_s;
  return forecast;
}

MeasuredTimes times_by_peaks(const Plan& plan, const StepEstimate& step, double start_s) {
  constexpr double usual_start_s = 20;
  return {.parts = {.start_s = start_s > 0 ? start_s : usual_start_s,
                    .step_s = step.step_s(),
                    .evaluation_s = evaluation_by(plan, step)},
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
  std::string text = cat("about ", format_span(forecast.total_s), ": ",
                         parts.start_s > 0 ? cat(format_seconds(parts.start_s), " to start, ") : "",
                         format_seconds(parts.step_s), " a step");
  if (forecast.epoch_s > 0) text += cat(", ", format_seconds(forecast.epoch_s), " an epoch");
  if (forecast.evaluations > 0 && parts.evaluation_s > 0)
    text += cat(", ", count_of(forecast.evaluations, "evaluation"), " of ",
                format_seconds(parts.evaluation_s));
  return cat(text, "; ", source_text(forecast.from));
}

std::string raised_budget(const TrainOptions& options, double spent_s) {
  const double budget_s = options.stop.budget.seconds;
  // The next multiple leaves at least half of a budget.
  const double spent = std::max(1.0, std::round(spent_s / budget_s));
  return cat("stop.budget=", format_duration({budget_s * (spent + 1)}));
}

std::string spent_budget_text(const TrainOptions& options, double spent_s, double least_s) {
  const auto& stop = options.stop;
  const double left_s = stop.budget.seconds - stop.reserve.seconds - spent_s;
  if (stop.budget.seconds <= 0 || spent_s <= 0 || left_s > least_s) return "";
  return cat("nothing of stop.budget = ", format_duration(stop.budget),
             stop.reserve.seconds > 0 ? cat(" less ", format_duration(stop.reserve)) : "",
             " is left to train: earlier starts used ", format_span(spent_s),
             "; to go further, set a larger one, such as ", raised_budget(options, spent_s));
}

std::string quota_text(const Forecast& forecast, const TrainOptions& options, const Begun& begun,
                       std::int64_t total_steps) {
  const auto [quota_s, quota] = shortest_quota(options, begun.spent_s);
  if (quota_s <= 0) return "";
  const PartTimes& parts = forecast.from.parts;
  const double may_s = quota_s - options.stop.reserve.seconds, left_s = may_s - forecast.total_s;
  const std::string kept =
      options.stop.reserve.seconds > 0 ? cat(" less ", format_duration(options.stop.reserve)) : "";
  if (left_s >= 0) return cat("fits into ", quota, kept, ": ", format_span(left_s), " are left");
  // An evaluation is skipped if there is no time for it.
  const bool evaluates = parts.start_s + parts.evaluation_s <= may_s;
  const double per_step_s =
      parts.step_s + (evaluates ? forecast.evaluations_per_step * parts.evaluation_s : 0);
  const double steps = (may_s - parts.start_s - parts.save_s) / std::max(per_step_s, 1e-9);
  constexpr double rounding = 1e-6;
  const auto reached = static_cast<std::int64_t>(std::clamp(steps + rounding, 0.0, 1e15));
  return cat("does not fit into ", quota, kept, ", where it comes to about step ",
             std::min(begun.step + reached, total_steps), " of ", total_steps,
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
          {"steps_scatter", scatters(forecast.from)},
          {"off_by", forecast.off_by()}};
}

}  // namespace lockstep
