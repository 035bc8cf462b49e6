// Freezes the parameters of a model that a user's patterns name.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// Takes requires_grad from the parameters that `patterns` name (train.freeze,
// planning/options/parameter_rules.h). It must come before anything moves the parameters. A
// parameter with several names is frozen or trained under all of them, as the last pattern that
// matches any says. Throws Error for a pattern that matches no name, with near ones, and where
// nothing would be left to train.
void freeze(const std::vector<Parameter>& registered, const std::vector<std::string>& patterns);

}  // namespace lockstep
