// Remembers the best evaluation so far, and counts the evaluations since then.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

// Checkpoints store these values in their state, so a resumed run continues to count.
struct BestSoFar {
  std::optional<double> value;
  std::int64_t step = 0;       // step of the evaluation that gave `value`
  std::int64_t last_step = 0;  // step of the last evaluation
  std::int64_t evaluations_since = 0;
};

nlohmann::json to_json(const BestSoFar& best);
// Also reads checkpoints of earlier versions, which stored fewer of these values.
BestSoFar best_from_json(const nlohmann::json& state);

// If stop.patience or stop.patience_epochs is reached after the last evaluation, returns the reason
// to stop. If neither is reached, returns "". metric: the name of the metric, for the text of the
// reason.
std::string out_of_patience(const TrainOptions& options, const BestSoFar& best,
                            const std::string& metric, std::int64_t steps_per_epoch);

}  // namespace lockstep
