// A recipe known only by what the worker described: its table, without its code.
#pragma once

#include "plan/recipe_info.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace lockstep::cli {

// recipe: {"name", "summary", "options": […], "presets": […]} as `lockstep-worker describe` prints.
// Throws Error if it is no such description.
void register_described_recipe(const nlohmann::json& recipe);

// Its options alone, as `register_described_recipe` makes them. Throws Error likewise.
std::unique_ptr<RecipeOptions> described_options(const nlohmann::json& recipe);

}  // namespace lockstep::cli
