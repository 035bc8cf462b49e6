// The options that decide how long a run is, for messages about its end.
#pragma once

#include "core/config/options.h"
#include "planning/options/train_options.h"
#include "planning/plan.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Whether a recipe's option sets the number of samples of an epoch, as stop.episodes does. If a run
// trains on more samples than that, it has several epochs. epoch: the number of samples of an
// epoch.
bool is_epoch_option(const std::string& key, const nlohmann::json& value, std::int64_t epoch);

// The option that ends a planned run, and the values with which the run would continue beyond
// `step`.
struct RunLength {
  // "stop.steps=100" or "stop.episodes=8"; if both are set, the option that ends the run
  std::string ended_by;
  std::string longer;  // "set stop.episodes to more than 8"; empty if the run already continues
};
RunLength run_length(const Plan& plan, const TrainOptions& options, const OptionTable& recipe,
                     std::int64_t step);

}  // namespace lockstep
