// Changes to what a run evaluates, where it resumes.
#pragma once

#include "core/config/options.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// The options evaluate.* of a recipe that differ from those of the start before: "evaluate.shots=5
// (before: 3)", with commas between. "" if none does. before: the values by their keys.
std::string evaluation_changes(const OptionTable& recipe, const nlohmann::json& before);

}  // namespace lockstep
