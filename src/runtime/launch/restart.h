// Restarts a run when a rank failed.
#pragma once

#include <functional>

#include "runtime/launch/launch.h"

namespace lockstep {

// Calls launch(). As long as a rank fails, calls it again, up to `restarts` times. Before each
// restart, calls on_restart with its number, from 1, if the function is not empty. Ranks find the
// number of the restart, from 0, in LOCKSTEP_RESTART. Any other outcome is final.
using OnRestart = std::function<void(int restart, const RankFailed& failure)>;
LaunchOutcome launch_with_restarts(const LaunchSpec& spec, Clock& clock, int restarts,
                                   const OnRestart& on_restart);

}  // namespace lockstep
