// A recipe known only by what the worker described: its table, without its code.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace lockstep::cli {

// recipe: {"name", "summary", "options": […], "presets": […]} as `lockstep-worker describe` prints.
void register_described_recipe(const nlohmann::json& recipe);

}  // namespace lockstep::cli
