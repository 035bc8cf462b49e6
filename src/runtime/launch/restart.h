// Restarts all ranks when a rank has failed.
#pragma once

#include <functional>

#include "runtime/launch/launch.h"

namespace lockstep {

// Calls launch(). If the outcome is RankFailed, calls it again, up to `restarts` times. Any other
// outcome is returned at once. Before each restart, calls on_restart with the number of the
// restart, from 1, unless the function is empty. Ranks find that number in LOCKSTEP_RESTART, which
// is 0 in the first launch.
using OnRestart = std::function<void(int restart, const RankFailed& failure)>;
LaunchOutcome launch_with_restarts(const LaunchSpec& spec, Clock& clock, int restarts,
                                   const OnRestart& on_restart);

}  // namespace lockstep
