// Which plugins may be loaded because a run's record names them. Loading one runs its code, and a
// run directory may come from anybody, so only those that the user has named himself on this
// machine.
#pragma once

#include <string>

namespace lockstep::cli {

// The user named it: returns its absolute path, which is remembered in lockstep/plugins.json of
// XDG_STATE_HOME (default ~/.local/state) where that can be written, and told to workers started
// from here on.
std::string trust_plugin(const std::string& plugin);

// library: an absolute path. Throws Error unless it was trusted at some time; else tells workers.
void require_trusted_plugin(const std::string& library);

}  // namespace lockstep::cli
