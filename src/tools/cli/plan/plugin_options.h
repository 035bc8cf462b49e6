// A recipe known only by the worker's description: its table, without its code.
#pragma once

#include "planning/recipe_info.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::cli {

// Asks the recipe's code. what: "items" or "score"; request: as in worker/describe.h.
using AskRecipe = std::function<std::string(const char* what, const nlohmann::json& request)>;

// ask: may be empty if it is never needed. recipe: {"name", "summary", "options": […], "presets":
// […]} as `lockstep-worker describe` prints. Throws Error if it is not such a description.
void register_described_recipe(const nlohmann::json& recipe, AskRecipe ask = {});

// Only its options, as `register_described_recipe` makes them. Throws Error in the same cases.
std::unique_ptr<RecipeOptions> described_options(const nlohmann::json& recipe, AskRecipe ask = {});

}  // namespace lockstep::cli
