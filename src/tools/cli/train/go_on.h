// The command that goes on with a run that was stopped.
#pragma once

#include "planning/run_setup.h"
#include "tools/cli/train/then.h"

#include <filesystem>
#include <string>

namespace lockstep::cli {

struct GoOn {
  std::string command{};      // "lockstep resume runs/a --then predict stop.after=8h30m"
  bool same_command = false;  // the command that was given goes on too
  // "go on with: …"
  std::string text() const;
};

// How the run stopped.
struct StoppedRun {
  double spent_s = 0;     // used of a stop.budget that ended it, which the command raises
  bool predicts = false;  // --then predict follows the stop
};

// Names again what a resume forgets: what follows training, stop.after and stop.reserve.
GoOn go_on_with(const std::filesystem::path& run, const RunSetup& setup, const Then& then,
                const StoppedRun& stopped);

}  // namespace lockstep::cli
