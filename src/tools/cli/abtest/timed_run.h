// Runs a command once and measures its time, its use of processors and memory, and how it ended.
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
  std::filesystem::path output;  // a new file for its output
  std::optional<double> timeout_s{};
  // the whole environment; nothing: as this process
  std::optional<std::vector<std::string>> environment{};
  // Also ends processes that the command left behind outside its process group. Allowed only if
  // this process has no other children.
  bool owns_orphans = false;
};

struct TimedRun {
  double started = 0;               // Unix seconds
  double wall_s = 0;                // from before its process started until its end was noticed
  double user_s = 0, system_s = 0;  // of it and all children that it waited for
  std::optional<std::int64_t> peak_bytes{};  // of its largest process; nothing if below
                                             // `floor_bytes`
  int code = 0;                              // exit code, or 128 + signal
  int signal = 0;                            // the signal that ended it
  bool timed_out = false, interrupted = false;
};

// The least peak that can be measured: the kernel counts for a child the memory that this process
// had when starting it.
std::int64_t peak_floor_bytes();

// Runs the command to its end in a process group of its own. No process of the group remains
// afterwards. interrupted: called every 0.1 s; returns the signal that came, or 0. The signal is
// passed on, and 3 s later all processes are killed. A time-out has the same effect. Throws Error
// if the command cannot be started.
TimedRun run_timed(const TimedOrder& order, const std::function<int()>& interrupted);

}  // namespace lockstep::cli
