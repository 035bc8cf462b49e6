// Which plugins may be loaded because a run's record names them. Loading one runs its code, and a
// run directory may come from anybody, so only those that the user has named himself on this
// machine.
#pragma once

#include <string>

namespace lockstep::cli {

// library: an absolute path. The user named it: remembered in lockstep/plugins.json of
// XDG_STATE_HOME (default ~/.local/state) where that can be written, and told to workers started
// from here on.
void trust_plugin(const std::string& library);

// Throws Error unless it was trusted at some time; else tells workers.
void require_trusted_plugin(const std::string& library);

}  // namespace lockstep::cli
