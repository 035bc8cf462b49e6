#include "cli/foresee.h"

#include "base/text.h"
#include "cli/context.h"
#include "cli/measured_times.h"
#include "run/json_lines.h"
#include "run/time_left.h"

namespace lockstep::cli {
namespace {

constexpr const char* forecast_key = "forecast";

}  // namespace

std::optional<Forecast> forecast_of(const RunSetup& setup, std::int64_t first_step) {
  std::optional<MeasuredTimes> times = known_times(setup);
  if (!times) times = times_by_peaks(setup.plan);
  if (!times) return std::nullopt;
  return make_forecast(*times, setup.plan, *setup.train, first_step);
}

void note_forecast(RunSetup& setup, const std::optional<Forecast>& forecast,
                   std::int64_t first_step) {
  if (!forecast) return;
  Plan& plan = setup.plan;
  plan.notes.push_back(forecast_text(*forecast));
  const std::string quota = quota_text(*forecast, *setup.train, first_step, plan.total_steps);
  if (!quota.empty()) plan.notes.push_back(quota);
}

void foresee(RunSetup& setup, const Then& then, std::int64_t items, std::int64_t first_step) {
  ExpectedTimes expected{.after = reserve_time(setup, then, items)};
  const std::optional<Forecast> forecast = forecast_of(setup, first_step);
  note_forecast(setup, forecast, first_step);
  if (const auto measured = known_times(setup)) expected.parts = measured->parts;
  setup.times = to_json(expected);
  if (forecast) setup.times[forecast_key] = to_json(*forecast);
}

std::string forecast_and_truth(const RunSetup& setup) {
  const auto forecast = setup.times.find(forecast_key);
  if (forecast == setup.times.end()) return "";
  return cat("forecast ", format_span(number_or(*forecast, "total_s", 0)), ", took ",
             format_span(system_clock().now_s() - begin_s()));
}

}  // namespace lockstep::cli
