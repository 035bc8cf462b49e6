// Recipes that train in the tool itself (plan/direct_recipe.h).
#pragma once

#include "cli/arguments.h"
#include "plan/direct_recipe.h"

#include <memory>

namespace lockstep::cli {

// The recipe's options with preset, files and assignments applied and checked. Throws Error, which
// says of an option of the engine that such a recipe has none.
std::unique_ptr<DirectOptions> resolve_direct(const DirectRecipe& recipe, const Parsed& parsed);

// lockstep train RECIPE. Outputs go into a run, or into the folder that the environment variable
// LOCKSTEP_OUT names, where a job of a batch has its own. Returns the exit code.
int train_direct(const DirectRecipe& recipe, const Parsed& parsed);

}  // namespace lockstep::cli
