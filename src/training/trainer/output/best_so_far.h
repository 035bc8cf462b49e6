// The best evaluation so far, and how long ago it was.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

// Part of a checkpoint's state, so that a run that goes on counts on.
struct BestSoFar {
  std::optional<double> value;
  std::int64_t step = 0;       // of the evaluation that gave it
  std::int64_t last_step = 0;  // of the last evaluation
  std::int64_t evaluations_since = 0;
};

nlohmann::json to_json(const BestSoFar& best);
BestSoFar best_from_json(const nlohmann::json& state);  // earlier versions tell less

// Whether stop.patience or stop.patience_epochs is over after the last evaluation: why, as words;
// empty: it is not. metric: its name. Pure.
std::string out_of_patience(const TrainOptions& options, const BestSoFar& best,
                            const std::string& metric, std::int64_t steps_per_epoch);

}  // namespace lockstep
