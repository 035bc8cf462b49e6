// Which plugins may be loaded because a run's record names them. Loading one runs its code, and a
// run directory may come from anybody, so only those that the user has named himself on this
// machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::cli {

// The user named it: returns its absolute path, which is remembered in lockstep/plugins.json of
// XDG_STATE_HOME (default ~/.local/state) where that can be written, and told to workers started
// from here on.
std::string trust_plugin(const std::string& plugin);

// library: an absolute path. Throws Error unless it was trusted at some time; else tells workers.
void require_trusted_plugin(const std::string& library);

// The one library of this name that was trusted, is still there and has the recipe; "": there is
// none, or more than one.
std::string used_plugin(const std::string& file_name, const std::string& recipe);

// What a plugin that is remembered says of its recipes, kept so that completion offers their
// options without loading it. described: the worker's description, a list of recipes.
void remember_recipes(const std::string& library, const nlohmann::json& described);
nlohmann::json remembered_recipes(const std::string& plugin);  // an empty list where none is

}  // namespace lockstep::cli
