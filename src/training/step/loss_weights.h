// Checks the weights that a recipe returns for the terms of its loss.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// terms: the result of Recipe::terms. Throws Error if the number of weights differs from the number
// of terms. Throws Error if a weight is negative or not finite, and names its term. A recipe
// returns NaN for a weight that it knows only on the device, so this is an error too.
void check_loss_weights(const std::vector<double>& weights, const std::vector<std::string>& terms);

// Calls Recipe::loss_weights and check_loss_weights, and returns the weights. batch: on the host.
// Any thread may call it.
std::vector<double> checked_loss_weights(const Recipe& recipe, const Batch& batch);

}  // namespace lockstep
