// Options for evaluation that changed when a run resumes.
#pragma once

#include "core/config/options.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Lists the options evaluate.* of a recipe that differ from the previous start: "evaluate.shots=5
// (before: 3)", separated by commas. Empty if none differs. before: the previous values by key.
std::string evaluation_changes(const OptionTable& recipe, const nlohmann::json& before);

}  // namespace lockstep
