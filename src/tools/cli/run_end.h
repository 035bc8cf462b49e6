// Texts, state and exit code for how ranks ended.
#pragma once

#include "runtime/launch/launch.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/train/go_on.h"

#include <string>

namespace lockstep::cli {

// "rank 1 on cuda:1 failed: exit code 1 in backward of step 12; rank 0 waits in …". The first line
// of the rank's own report replaces the exit code if there is one.
std::string failure_text(const RankFailed& failed);
// Whether the rank ended because of a user's error, so that a restart is no use.
bool is_users_error(const RankFailed& failed);

// Reports how the ranks of a training run ended, and writes the state that they cannot write
// themselves. why: of a stop. Returns the exit code.
int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why,
                   const GoOn& go_on);

// The same for ranks that only read a run. Throws the rank's own Error if there is one.
int report_reading(const LaunchOutcome& outcome);

}  // namespace lockstep::cli
