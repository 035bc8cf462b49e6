// Registers recipes that the tool knows only from the worker's description. The tool has their
// option tables, but not their code.
#pragma once

#include "planning/recipe_info.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::cli {

// Sends a request to the recipe's code, which only the worker has. what: "items" or "score".
// request: as in worker/describe.h. Returns the worker's output.
using AskRecipe = std::function<std::string(const char* what, const nlohmann::json& request)>;

// Registers a recipe. recipe: {"name", "summary", "options": […], "presets": […]}, as
// `lockstep-worker describe` prints it. ask: may be empty if the caller never needs the recipe's
// code. Throws Error if `recipe` is not such a description.
void register_described_recipe(const nlohmann::json& recipe, AskRecipe ask = {});

// Makes the options of such a recipe, without registering it. Throws Error if `recipe` is not such
// a description.
std::unique_ptr<RecipeOptions> described_options(const nlohmann::json& recipe, AskRecipe ask = {});

}  // namespace lockstep::cli
