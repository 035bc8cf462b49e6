// The times of a run's parts, as far as they are known before it begins.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// In seconds; 0 = unknown.
struct PartTimes {
  double start_s = 0;       // time from the start of the command to the end of the first step
  double step_s = 0;        // mean time of a step, with delays: data, other ranks, saving
  double evaluation_s = 0;  // time of one evaluation over all validation data
  double save_s = 0;        // time of one checkpoint, until it is written
};

// Work after training that must fit into the same quota.
struct AfterTraining {
  // Whether predictions follow and stop.reserve was not set. Predictions need a start of their own.
  bool predicts = false;
  std::int64_t items = 0;  // 0 = a text is streamed, or the number is unknown
  // Whether the reserve is a guess. It may then grow once a time is measured.
  bool reserve_is_guess = false;
};

struct ExpectedTimes {
  PartTimes parts;
  AfterTraining after;
};

// The form in run.json. In null, and in the form of older versions, nothing is known.
nlohmann::json to_json(const ExpectedTimes& times);
ExpectedTimes expected_times_from_json(const nlohmann::json& json);

// Seconds to predict `items` items on these ranks, without the start. It is assumed that an item
// costs as much as a validation sample, and that items are not split. 0 = unknown.
double prediction_s(std::int64_t items, double evaluation_s, std::int64_t valid_samples,
                    std::int64_t ranks);

}  // namespace lockstep
