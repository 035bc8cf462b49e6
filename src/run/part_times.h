// How long the parts of a run take, as far as that is known before it begins.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// Seconds; 0: not known.
struct PartTimes {
  double start_s = 0;       // from the command to the end of the first step
  double step_s = 0;        // the mean, with what held it up: data, other ranks, saving
  double evaluation_s = 0;  // one, over all of the validation data
  double save_s = 0;        // one checkpoint, until it is written
};

// What is to follow training within its quota.
struct AfterTraining {
  bool predicts = false;   // and stop.reserve was not set: predicting needs a start of its own
  std::int64_t items = 0;  // 0: a text is streamed, or nobody knows how many
  // Nothing was given or measured, so that the reserve may grow once something is known.
  bool reserve_is_guess = false;
};

struct ExpectedTimes {
  PartTimes parts;
  AfterTraining after;
};

// As run.json holds them; null, or what older versions wrote, is nothing known.
nlohmann::json to_json(const ExpectedTimes& times);
ExpectedTimes expected_times_from_json(const nlohmann::json& json);

// Seconds that predicting so many items takes on these ranks where an item costs as much as a
// validation sample; without the start. 0: not known. Items are not cut into pieces.
double prediction_s(std::int64_t items, double evaluation_s, std::int64_t valid_samples,
                    std::int64_t ranks);

}  // namespace lockstep
