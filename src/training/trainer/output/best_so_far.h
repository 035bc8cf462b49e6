// The best evaluation so far, and the number of evaluations since then.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

// Part of a checkpoint's state, so that a resumed run continues to count.
struct BestSoFar {
  std::optional<double> value;
  std::int64_t step = 0;       // step of the evaluation that gave the value
  std::int64_t last_step = 0;  // step of the last evaluation
  std::int64_t evaluations_since = 0;
};

nlohmann::json to_json(const BestSoFar& best);
// Also reads the states of earlier versions, which stored less.
BestSoFar best_from_json(const nlohmann::json& state);

// If stop.patience or stop.patience_epochs is exceeded after the last evaluation, returns the
// reason in words. Otherwise returns an empty text. metric: the name of the metric. Pure.
std::string out_of_patience(const TrainOptions& options, const BestSoFar& best,
                            const std::string& metric, std::int64_t steps_per_epoch);

}  // namespace lockstep
