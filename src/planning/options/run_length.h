// The options that decide how long a run is, for messages about its end.
#pragma once

#include "core/config/options.h"
#include "planning/options/train_options.h"
#include "planning/plan.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Whether a recipe's option says how many samples an epoch has, as stop.episodes does. A run over
// more samples than that has more epochs. epoch: samples of an epoch.
bool is_epoch_option(const std::string& key, const nlohmann::json& value, std::int64_t epoch);

// The options that end a planned run, and the values with which it would go beyond a step that it
// does not reach.
struct RunLength {
  std::string ended_by;  // "stop.steps=100"; "stop.episodes=8"; the first of both
  std::string longer;    // "set stop.episodes to more than 8"
};
RunLength run_length(const Plan& plan, const TrainOptions& options, const OptionTable& recipe,
                     std::int64_t step);

}  // namespace lockstep
