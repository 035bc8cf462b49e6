// The command that continues a run that was stopped.
#pragma once

#include "planning/run_setup.h"
#include "tools/cli/train/then.h"

#include <filesystem>
#include <string>

namespace lockstep::cli {

struct GoOn {
  std::string command{};      // "lockstep resume runs/a --then predict stop.after=8h30m"
  bool same_command = false;  // the command that the user gave also continues the run
  // "go on with: …"
  std::string text() const;
};

// How the run stopped.
struct StoppedRun {
  // time used of the stop.budget that ended the run; the command raises that budget
  double spent_s = 0;
  bool predicts = false;  // --then predict follows the stop
};

// The command contains what a resume would not take over: the steps after training, stop.after and
// stop.reserve.
GoOn go_on_with(const std::filesystem::path& run, const RunSetup& setup, const Then& then,
                const StoppedRun& stopped);

}  // namespace lockstep::cli
