// Finds the processes that are ranks of Lockstep's runs, from /proc. Reads the progress of these
// runs from their folders.
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
  // Returns the run in which the process is a rank. Returns nothing if the process is not a rank.
  // The events of a run are read at most once a second. If torchrun, srun or mpirun started the
  // ranks, the run is found through files that rank 0 has open. All other ranks with the same
  // parent process belong to that run. Ranks on another machine than rank 0 are not recognised.
  std::optional<OwnRun> of(int pid);

 private:
  struct Followed {
    RunTail tail;
    double read_s = 0;
  };
  Clock* clock_;
  std::filesystem::path proc_;
  std::map<std::string, Followed> runs_;  // the key is the path of the run
};

// Returns a function that takes a process number from the driver. It returns process_info()
// together with the run of the process. It caches facts about runs. Use it on one thread only.
FindProcess find_processes();

// Returns text such as "first-try 1200/20000 1.02M tok/s eta 2h41m". Unknown parts are left out.
std::string run_text(const OwnRun& run);

}  // namespace lockstep
