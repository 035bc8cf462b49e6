// Starts a run again when a rank failed.
#pragma once

#include <functional>

#include "launch/launch.h"

namespace lockstep {

// launch(), and up to `restarts` times more as long as a rank fails; before each, calls
// on_restart(1, failure), (2, …) if given. Ranks find the number of the restart, from 0 on, in
// LOCKSTEP_RESTART. Whatever else ends the run ends it for good.
using OnRestart = std::function<void(int restart, const RankFailed& failure)>;
LaunchOutcome launch_with_restarts(const LaunchSpec& spec, Clock& clock, int restarts,
                                   const OnRestart& on_restart);

}  // namespace lockstep
