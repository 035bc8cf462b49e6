// Runs the ranks of a run and tells people how it goes.
#pragma once

#include "launch/launch.h"
#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

// Starts `lockstep-worker ARGUMENTS` once a device of the plan, shows progress, and waits. Events
// of rank 0 also go to `on_event`. hang_after: see LaunchSpec. pass_stdout: rank 0 writes to our
// standard output.
LaunchOutcome run_ranks(const std::vector<std::string>& arguments,
                        const std::vector<Device>& devices, const std::filesystem::path& log_dir,
                        bool pass_stdout,
                        const std::function<void(const nlohmann::json&)>& on_event = {},
                        Duration hang_after = {});

// Says how the ranks ended (and writes a failed run's state); returns the exit code. why: of a
// stop.
int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why);

std::string failure_text(const RankFailed& failed);  // "rank 1 on cuda:1 failed: exit code 1"
// Whether the rank ended because of what the user can mend, so that starting again is no use.
bool is_users_error(const RankFailed& failed);

// The same for ranks that only read a run. Throws the rank's own Error if it ended with one.
int report_reading(const LaunchOutcome& outcome);

}  // namespace lockstep::cli
