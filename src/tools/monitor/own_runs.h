// Finds the processes that are ranks of Lockstep's own runs, and the state of these runs, from
// /proc and the run directory.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "runtime/run/folder/run_tail.h"
#include "tools/monitor/process_info.h"

namespace lockstep {

class OwnRuns {
 public:
  explicit OwnRuns(Clock& clock = system_clock(), std::filesystem::path proc = "/proc")
      : clock_(&clock), proc_(std::move(proc)) {}
  // Nothing for a process that is not a rank. A run's events are read at most once a second. If
  // torchrun, srun or mpirun started the ranks, rank 0 is recognised by its open files, and the
  // others by having the same parent. So no rank on other machines is recognised.
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

// A function that takes a number from the driver and returns process_info with the run of each
// process. It caches the facts about runs. Use it on one thread.
FindProcess find_processes();

// "first-try 1200/20000 1.02M tok/s eta 2h41m"; unknown parts are left out.
std::string run_text(const OwnRun& run);

}  // namespace lockstep
