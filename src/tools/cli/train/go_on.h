// Makes the command that resumes a stopped run.
#pragma once

#include "planning/run_setup.h"
#include "tools/cli/train/then.h"

#include <filesystem>
#include <string>

namespace lockstep::cli {

struct GoOn {
  std::string command{};      // "lockstep resume runs/a --then predict stop.after=8h30m"
  bool same_command = false;  // whether the command that the user typed also resumes the run
  // "go on with: …", with the command
  std::string text() const;
};

// How the run stopped.
struct StoppedRun {
  // Seconds of training, if stop.budget ended the run; the command then raises the budget. Else 0.
  double spent_s = 0;
  bool predicts = false;  // whether --then predict runs after the training stopped
};

// Makes the command. It contains the settings that a resume does not take from the run: --then,
// --force, stop.after and stop.reserve.
GoOn go_on_with(const std::filesystem::path& run, const RunSetup& setup, const Then& then,
                const StoppedRun& stopped);

}  // namespace lockstep::cli
