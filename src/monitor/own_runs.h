// Which processes are ranks of Lockstep's own runs, and where these are: of /proc and of the run
// directory.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "monitor/process_info.h"
#include "run/run_tail.h"

namespace lockstep {

class OwnRuns {
 public:
  explicit OwnRuns(Clock& clock = system_clock(), std::filesystem::path proc = "/proc")
      : clock_(&clock), proc_(std::move(proc)) {}
  // Nothing for a process that is no rank. A run's events are read once a second at most. Of ranks
  // that torchrun, srun or mpirun started rank 0 is known by the files that it has open, the others
  // by having the same parent: on other machines none is.
  std::optional<OwnRun> of(int pid);

 private:
  struct Followed {
    RunTail tail;
    double read_s = 0;
  };
  Clock* clock_;
  std::filesystem::path proc_;
  std::map<std::string, Followed> runs_;  // by path
};

// Of a number that the driver gave: as process_info, with the run of each; what is known of runs is
// kept in it. One thread.
FindProcess find_processes();

// "first-try 1200/20000 1.02M tok/s eta 2h41m"; what is not known is left out.
std::string run_text(const OwnRun& run);

}  // namespace lockstep
