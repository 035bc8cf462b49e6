// Texts, state and exit code that follow from how ranks ended.
#pragma once

#include "runtime/launch/launch.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/train/go_on.h"

#include <string>

namespace lockstep::cli {

// "rank 1 on cuda:1 failed: exit code 1 in backward of step 12; rank 0 waits in …". If the rank
// reported an error itself, its first line replaces the exit code.
std::string failure_text(const RankFailed& failed);
// Whether the rank ended because of a user's error, so that a restart would not help.
bool is_users_error(const RankFailed& failed);

// Reports how the ranks of a training run ended, and writes the run's state if they could not. why:
// the reason for a stop. Returns the exit code.
int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why,
                   const GoOn& go_on);

// The same for ranks that only read a run. Throws the rank's own Error if it reported one.
int report_reading(const LaunchOutcome& outcome);

}  // namespace lockstep::cli
