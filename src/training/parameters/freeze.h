// Freezes the parameters of a model that match the patterns in train.freeze.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// Sets requires_grad to false for parameters that match `patterns`.
// planning/options/parameter_rules.h describes the patterns. Call it before the parameters are
// moved to the device. If several patterns match, the last one decides. A parameter with several
// names is frozen or trained as a whole; a match of any name counts. Throws Error in two cases: a
// pattern matches no name (the Error suggests similar names), or every parameter would be frozen.
void freeze(const std::vector<Parameter>& registered, const std::vector<std::string>& patterns);

}  // namespace lockstep
