// Restarts a run when a rank failed.
#pragma once

#include <functional>

#include "runtime/launch/launch.h"

namespace lockstep {

// Calls launch(), and up to `restarts` times more while a rank fails. Before each restart it calls
// on_restart(1, failure), (2, …) if given. Ranks find the number of the restart, from 0 on, in
// LOCKSTEP_RESTART. Any other outcome is final.
using OnRestart = std::function<void(int restart, const RankFailed& failure)>;
LaunchOutcome launch_with_restarts(const LaunchSpec& spec, Clock& clock, int restarts,
                                   const OnRestart& on_restart);

}  // namespace lockstep
