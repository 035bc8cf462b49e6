// The weights of a loss's terms in a micro-batch, as the recipe gives them and as they must be.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// terms: of Recipe::terms. Throws Error for another number of weights, and naming the term whose
// weight is negative or not finite, as that of a recipe is that knows it on the device only.
void check_loss_weights(const std::vector<double>& weights, const std::vector<std::string>& terms);

// Recipe::loss_weights of a batch on the host; any thread. Throws as check_loss_weights.
std::vector<double> checked_loss_weights(const Recipe& recipe, const Batch& batch);

}  // namespace lockstep
