// Decides whether a plugin may be loaded because a run's record names it. Loading a plugin runs its
// code, and a run directory may come from anybody. So only plugins that the user has named on this
// machine are loaded.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::cli {

// Trusts a plugin that the user has named. Returns its absolute path, and passes it to workers that
// start from now on. Also stores the path in $XDG_STATE_HOME/lockstep/plugins.json if that is
// writable. XDG_STATE_HOME is ~/.local/state by default. Throws Error if the path is not UTF-8.
std::string trust_plugin(const std::string& plugin);

// Passes the library to workers. library: an absolute path. Throws Error if the user never trusted
// the library.
void require_trusted_plugin(const std::string& library);

// Returns the trusted library with this file name that still exists and has the recipe. Returns ""
// if there is no such library, or more than one.
std::string used_plugin(const std::string& file_name, const std::string& recipe);

// Stores the description of a trusted plugin's recipes. Shell completion then offers their options
// without loading the plugin. described: the list of recipes that the worker printed.
void remember_recipes(const std::string& library, const nlohmann::json& described);
// returns the stored description; an empty list if none is stored
nlohmann::json remembered_recipes(const std::string& plugin);

}  // namespace lockstep::cli
