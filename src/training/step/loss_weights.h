// Checks the weights that a recipe gives for the terms of its loss in a micro-batch.
#pragma once

#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep {

// terms: the result of Recipe::terms. Throws Error if their number differs from that of the
// weights. If a weight is negative or not finite, throws Error with the name of its term. A weight
// is not finite if the recipe knows it only on the device.
void check_loss_weights(const std::vector<double>& weights, const std::vector<std::string>& terms);

// Returns Recipe::loss_weights of a batch on the host, after check_loss_weights. Any thread may
// call it. Throws as check_loss_weights does.
std::vector<double> checked_loss_weights(const Recipe& recipe, const Batch& batch);

}  // namespace lockstep
