// What a user's patterns freeze of a model.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// Of parameters that nothing has moved yet: takes requires_grad from those that `patterns` name
// (train.freeze, planning/options/parameter_rules.h). A parameter with several names is frozen or
// trained under all of them, as the last pattern that matches any says. Throws Error for a pattern
// that matches no name, with near ones, and where nothing would be left to train.
void freeze(const std::vector<Parameter>& registered, const std::vector<std::string>& patterns);

}  // namespace lockstep
