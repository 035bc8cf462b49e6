// Freezes those parameters of a model that match a user's patterns.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// Switches requires_grad off for parameters that match `patterns` (train.freeze,
// planning/options/parameter_rules.h). Call it before anything moves the parameters. A parameter
// with several names is frozen or trained as a whole. The last pattern that matches any of its
// names decides. If a pattern matches no name, throws Error with similar names. Also throws Error
// if no parameter would be left to train.
void freeze(const std::vector<Parameter>& registered, const std::vector<std::string>& patterns);

}  // namespace lockstep
