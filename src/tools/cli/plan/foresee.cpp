#include "tools/cli/plan/foresee.h"

#include "core/base/text/text.h"
#include "planning/step_estimate.h"
#include "planning/words.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/progress/time_left.h"
#include "tools/cli/bench/measured_times.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"

#include <iterator>
#include <utility>

namespace lockstep::cli {
namespace {

constexpr const char* forecast_key = "forecast";

// The time of predictions after training. It is estimated from the last predictions, or else from
// an evaluation.
std::string prediction_text(const RunSetup& setup, const ItemLoad& load,
                            const std::optional<Forecast>& forecast) {
  const auto text = [&](double seconds, const char* why) {
    return cat("predicting ", count_of(load.items, "item"), " afterwards takes about ",
               format_span(seconds), " (", why, ")");
  };
  if (const auto known_s = known_prediction_s(setup, setup.plan.devices, load))
    return text(*known_s, "by the last time");
  if (!forecast) return "";
  const PartTimes& parts = forecast->from.parts;
  const double seconds = prediction_s(load.items, parts.evaluation_s, setup.plan.valid_samples,
                                      std::ssize(setup.plan.devices));
  return seconds > 0 ? text(parts.start_s + seconds,
                            "estimated: an item as a validation sample, and a start of its own")
                     : "";
}

void note_forecast(RunSetup& setup, const std::optional<Forecast>& forecast, const Begun& begun) {
  Plan& plan = setup.plan;
  if (begun.step >= plan.total_steps) return;
  const PartTimes parts = forecast ? forecast->from.parts : PartTimes{};
  // same formula as TimeAhead::next_steps_s
  const double least_s = 2 * parts.step_s + parts.save_s;
  if (std::string spent = spent_budget_text(*setup.train, begun.spent_s, least_s); !spent.empty()) {
    plan.notes.push_back(std::move(spent));
    return;
  }
  if (!forecast) return;
  plan.notes.push_back(forecast_text(*forecast));
  const std::string quota = quota_text(*forecast, *setup.train, begun, plan.total_steps);
  if (!quota.empty()) plan.notes.push_back(quota);
}

// Forecasts from the times of an earlier run or trial, or else from the devices' peak speeds.
// Nothing if both are unknown.
std::optional<Forecast> forecast_of(const RunSetup& setup, std::int64_t first_step) {
  std::optional<MeasuredTimes> times = known_times(setup);
  if (!times) {
    const auto step = estimate_step(setup.plan, *setup.train, link_between(setup.plan.devices));
    if (!step) return std::nullopt;
    times = times_by_peaks(setup.plan, *step, known_start_s(setup));
  }
  return make_forecast(*times, setup.plan, *setup.train, first_step);
}

}  // namespace

std::optional<Forecast> foresee(RunSetup& setup, const Then& then, const ItemLoad& items,
                                const Begun& begun, const std::optional<MeasuredTimes>& trial) {
  ExpectedTimes expected{.after = reserve_time(setup, then, items)};
  const std::optional<Forecast> forecast =
      trial ? make_forecast(*trial, setup.plan, *setup.train, begun.step)
            : forecast_of(setup, begun.step);
  note_forecast(setup, forecast, begun);
  if (then.has("predict") && items.items > 0)
    if (std::string note = prediction_text(setup, items, forecast); !note.empty())
      setup.plan.notes.push_back(std::move(note));
  if (const auto measured = known_times(setup)) expected.parts = measured->parts;
  setup.times = to_json(expected);
  if (forecast) setup.times[forecast_key] = to_json(*forecast);
  return forecast;
}

std::string forecast_and_truth(const RunSetup& setup) {
  const auto forecast = setup.times.find(forecast_key);
  if (forecast == setup.times.end()) return "";
  return cat("forecast ", format_span(number_or(*forecast, "total_s", 0)), ", took ",
             format_span(system_clock().now_s() - begin_s()));
}

}  // namespace lockstep::cli
