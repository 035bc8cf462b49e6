// Registers a recipe of this repository or of a plugin.
#pragma once

#include "training/recipe/recipe.h"

#include <memory>
#include <string>

namespace lockstep {

// Registers the options and the recipe under one name. Options must be derived from RecipeOptions.
// RecipeType must be derived from Recipe, and have a constructor (const Options&, const Prepared&).
template <class Options, class RecipeType>
void register_recipe_pair(const std::string& name, const std::string& summary) {
  register_recipe({.name = name, .summary = summary, .make_options = [] {
                     return std::make_unique<Options>();
                   }});
  register_recipe_factory(name, [](const RecipeOptions& options, const Prepared& prepared) {
    return std::make_unique<RecipeType>(dynamic_cast<const Options&>(options), prepared);
  });
}

}  // namespace lockstep

// A plugin uses this macro in exactly one source file: LOCKSTEP_PLUGIN("own", "what it does",
// OwnOptions, OwnRecipe)
#define LOCKSTEP_PLUGIN(name, summary, Options, RecipeType)                                 \
  extern "C" __attribute__((visibility("default"))) const char* lockstep_plugin_version() { \
    return LOCKSTEP_PLUGIN_VERSION;                                                         \
  }                                                                                         \
  extern "C" __attribute__((visibility("default"))) void lockstep_plugin_register() {       \
    ::lockstep::register_recipe_pair<Options, RecipeType>(name, summary);                   \
  }
