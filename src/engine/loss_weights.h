// The weights of a loss's terms in a micro-batch, as the recipe gives them and as they must be.
#pragma once

#include "engine/recipe.h"

#include <vector>

namespace lockstep {

// Recipe::loss_weights of a batch on the host; any thread. Throws Error naming the term whose
// weight is negative or not finite, as that of a recipe is that knows it on the device only.
std::vector<double> checked_loss_weights(const Recipe& recipe, const Batch& batch);

}  // namespace lockstep
