// Options for evaluation that changed when a run resumes.
#pragma once

#include "core/config/options.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Lists the options evaluate.* of a recipe whose values differ from those before the run resumed:
// "evaluate.shots=5 (before: 3)", separated by commas. Empty if no option differs. before: the
// previous values by key.
std::string evaluation_changes(const OptionTable& recipe, const nlohmann::json& before);

}  // namespace lockstep
