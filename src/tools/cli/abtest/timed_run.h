// Runs a command once. Measures its wall time, CPU time and peak memory, and how it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct TimedOrder {
  std::vector<std::string> words;
  // file for standard output and standard error; it is created or truncated
  std::filesystem::path output;
  std::optional<double> timeout_s{};
  // The whole environment of the command. If not set, the command inherits the environment of this
  // process.
  std::optional<std::vector<std::string>> environment{};
  // Whether processes that the command left behind outside its process group are killed too.
  // Allowed only if this process has no other children.
  bool owns_orphans = false;
};

struct TimedRun {
  double started = 0;               // time of the start in Unix seconds
  double wall_s = 0;                // time from just before the start until the end was detected
  double user_s = 0, system_s = 0;  // CPU time of the command, with all children that it waited for
  // Peak memory of its largest process. Not set unless it is above peak_floor_bytes().
  std::optional<std::int64_t> peak_bytes{};
  int code = 0;    // exit code, or 128 + signal
  int signal = 0;  // signal that ended it; 0 if none did
  bool timed_out = false, interrupted = false;
};

// Peaks up to this size cannot be measured. The peak that the kernel reports for a child includes
// the memory that this process had when it started the child.
std::int64_t peak_floor_bytes();

// Runs the command to its end in a process group of its own. No process of the group remains
// afterwards. interrupted: called at least every 0.1 s; returns the signal that came, or 0. The
// signal is passed on to the group; after 3 s, all processes of the group are killed. After a
// time-out, the group gets SIGTERM, and is also killed after 3 s. Throws Error if the command
// cannot be started.
TimedRun run_timed(const TimedOrder& order, const std::function<int()>& interrupted);

}  // namespace lockstep::cli
