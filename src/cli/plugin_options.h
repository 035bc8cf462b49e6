// A recipe known only by what the worker described: its table, without its code.
#pragma once

#include "plan/recipe_info.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::cli {

// What the recipe's code answers: what: "items" or "score"; request: as worker/describe.h says.
using AskRecipe = std::function<std::string(const char* what, const nlohmann::json& request)>;

// ask: may be empty where nobody asks. recipe: {"name", "summary", "options": […], "presets": […]}
// as `lockstep-worker describe` prints. Throws Error if it is no such description.
void register_described_recipe(const nlohmann::json& recipe, AskRecipe ask = {});

// Its options alone, as `register_described_recipe` makes them. Throws Error likewise.
std::unique_ptr<RecipeOptions> described_options(const nlohmann::json& recipe, AskRecipe ask = {});

}  // namespace lockstep::cli
