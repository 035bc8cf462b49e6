// Decides whether a plugin may be loaded because a run's record names it. Loading a plugin runs its
// code, and a run directory may come from anybody. So only plugins that the user has named on this
// machine are loaded.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::cli {

// For a plugin that the user named: returns its absolute path. The path is passed to workers
// started from now on. It is also remembered in lockstep/plugins.json of XDG_STATE_HOME (default
// ~/.local/state) if that is writable.
std::string trust_plugin(const std::string& plugin);

// library: an absolute path. Passes it to workers. Throws Error if it was never trusted.
void require_trusted_plugin(const std::string& library);

// The trusted library of this name that still exists and has the recipe. "" if there is none, or
// more than one.
std::string used_plugin(const std::string& file_name, const std::string& recipe);

// Stores a remembered plugin's description of its recipes, so that completion offers their options
// without loading it. described: the worker's description, a list of recipes.
void remember_recipes(const std::string& library, const nlohmann::json& described);
nlohmann::json remembered_recipes(const std::string& plugin);  // an empty list if there is none

}  // namespace lockstep::cli
