// The expected times of a run's parts, as far as they are known before the run begins.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace lockstep {

// All times are in seconds; 0 = unknown.
struct PartTimes {
  double start_s = 0;  // time from the start of the command to the end of the first step
  // mean time of a step, including waits for data, for other ranks and for saving
  double step_s = 0;
  double evaluation_s = 0;  // time of one evaluation over all validation data
  double save_s = 0;        // time to write one checkpoint
};

// Predictions after training, which must fit into the same quota as the training.
struct AfterTraining {
  // Whether predictions follow, and the user did not set stop.reserve. For the predictions, new
  // ranks start.
  bool predicts = false;
  // number of items to predict; 0 = the input is streamed as text, without items, or the number is
  // unknown
  std::int64_t items = 0;
  // Whether the time that is reserved for predictions is a guess. It may then grow after an
  // evaluation, whose time shows how long predictions take.
  bool reserve_is_guess = false;
};

struct ExpectedTimes {
  PartTimes parts;
  AfterTraining after;
};

// Convert the times to and from their form in run.json. From null, and from the form of older
// versions, the result has only unknown times.
nlohmann::json to_json(const ExpectedTimes& times);
ExpectedTimes expected_times_from_json(const nlohmann::json& json);

// Returns the seconds that `ranks` ranks need to predict `items` items, without their start; 0 =
// unknown. Assumes that an item takes as long as a validation sample, and that items are not split.
double prediction_s(std::int64_t items, double evaluation_s, std::int64_t valid_samples,
                    std::int64_t ranks);

}  // namespace lockstep
