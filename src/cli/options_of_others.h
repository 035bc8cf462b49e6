// Whose option a key is that the recipe at hand does not have: the nearest of its own would be no
// help.
#pragma once

#include "config/explain_key.h"

#include <string>

namespace lockstep::cli {

// Knows the options of all recipes but this one.
ExplainKey options_of_others(const std::string& recipe);

}  // namespace lockstep::cli
