// Derives messages, the run's state and the exit code from how the ranks ended.
#pragma once

#include "runtime/launch/launch.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/train/go_on.h"

#include <string>

namespace lockstep::cli {

// Returns "rank 1 on cuda:1 failed: exit code 1 in backward of step 12; rank 0 waits in …". If the
// rank reported an error itself, the first line of that error replaces the exit code.
std::string failure_text(const RankFailed& failed);
// Whether the rank ended because of a user's error. A restart would not help then.
bool is_users_error(const RankFailed& failed);

// Reports how the ranks of a training run ended. After an interrupt or a failure, also writes the
// run's state. why: the reason why training stopped early. Returns the exit code.
int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why,
                   const GoOn& go_on);

// Reports how ranks that only read a run ended; no state is written. Throws the rank's own Error if
// it reported a user's error.
int report_reading(const LaunchOutcome& outcome);

}  // namespace lockstep::cli
