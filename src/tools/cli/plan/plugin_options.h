// A recipe that is known only by the worker's description. The tool has its table but not its code.
#pragma once

#include "planning/recipe_info.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::cli {

// Asks the recipe's code, which only the worker has. what: "items" or "score"; request: as in
// worker/describe.h.
using AskRecipe = std::function<std::string(const char* what, const nlohmann::json& request)>;

// recipe: {"name", "summary", "options": […], "presets": […]} as `lockstep-worker describe` prints
// it. ask: may be empty if it is never needed. Throws Error if `recipe` is not such a description.
void register_described_recipe(const nlohmann::json& recipe, AskRecipe ask = {});

// Makes only the recipe's options, as `register_described_recipe` does. Throws Error in the same
// cases.
std::unique_ptr<RecipeOptions> described_options(const nlohmann::json& recipe, AskRecipe ask = {});

}  // namespace lockstep::cli
