#include "runtime/run/progress/part_times.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/run/events/json_lines.h"

namespace lockstep {

nlohmann::json to_json(const ExpectedTimes& times) {
  const auto& [parts, after] = times;
  return {{"start_s", parts.start_s},
          {"step_s", parts.step_s},
          {"evaluation_s", parts.evaluation_s},
          {"save_s", parts.save_s},
          {"predicts", after.predicts},
          {"items", after.items},
          {"reserve_is_guess", after.reserve_is_guess}};
}

ExpectedTimes expected_times_from_json(const nlohmann::json& json) {
  const auto seconds = [&](const char* key) { return std::max(number_or(json, key, 0), 0.0); };
  return {.parts = {.start_s = seconds("start_s"),
                    .step_s = seconds("step_s"),
                    .evaluation_s = seconds("evaluation_s"),
                    .save_s = seconds("save_s")},
          .after = {.predicts = is_true(json, "predicts"),
                    .items = std::max<std::int64_t>(integer_or(json, "items", 0), 0),
                    .reserve_is_guess = is_true(json, "reserve_is_guess")}};
}

double prediction_s(std::int64_t items, double evaluation_s, std::int64_t valid_samples,
                    std::int64_t ranks) {
  if (items <= 0 || valid_samples <= 0 || ranks <= 0) return 0;
  const auto rounds = [&](std::int64_t count) {
    return static_cast<double>((count + ranks - 1) / ranks);
  };
  return evaluation_s / rounds(valid_samples) * rounds(items);
}

}  // namespace lockstep
