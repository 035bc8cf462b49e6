// Times of a run's parts, as far as they are known before it begins.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// Seconds; 0: unknown.
struct PartTimes {
  double start_s = 0;       // from the command to the end of the first step
  double step_s = 0;        // the mean, including delays: data, other ranks, saving
  double evaluation_s = 0;  // for one evaluation, over all validation data
  double save_s = 0;        // for one checkpoint, until it is written
};

// Work that follows training within its quota.
struct AfterTraining {
  // Predictions follow, which need a start of their own, and stop.reserve was not set.
  bool predicts = false;
  std::int64_t items = 0;  // 0: a text is streamed, or the number is unknown
  // Nothing was given or measured, so the reserve may grow once something is known.
  bool reserve_is_guess = false;
};

struct ExpectedTimes {
  PartTimes parts;
  AfterTraining after;
};

// As stored in run.json. null, and the form of older versions, mean that nothing is known.
nlohmann::json to_json(const ExpectedTimes& times);
ExpectedTimes expected_times_from_json(const nlohmann::json& json);

// Seconds to predict `items` items on these ranks, if an item costs as much as a validation sample;
// without the start. 0: unknown. Items are not split.
double prediction_s(std::int64_t items, double evaluation_s, std::int64_t valid_samples,
                    std::int64_t ranks);

}  // namespace lockstep
