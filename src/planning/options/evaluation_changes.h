// Changes to what a run evaluates when it resumes.
#pragma once

#include "core/config/options.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// The options evaluate.* of a recipe that differ from those of the previous start:
// "evaluate.shots=5 (before: 3)", with commas between. "" if none differs. before: the previous
// values by their keys.
std::string evaluation_changes(const OptionTable& recipe, const nlohmann::json& before);

}  // namespace lockstep
