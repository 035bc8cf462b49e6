// One run of a command: its time, its use of processors and memory, and how it ended.
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
  std::filesystem::path output;  // a new file for what it prints
  std::optional<double> timeout_s{};
  std::optional<std::vector<std::string>> environment{};  // all of it; nothing: ours
  // Ends what the command left behind, also what it took out of its process group. Only where this
  // process has no other children.
  bool owns_orphans = false;
};

struct TimedRun {
  double started = 0;               // Unix seconds
  double wall_s = 0;                // from before the start of its process until its end was seen
  double user_s = 0, system_s = 0;  // of it and of all it waited for
  std::optional<std::int64_t> peak_bytes{};  // of its largest process; nothing: below `floor_bytes`
  int code = 0;                              // exit code, or 128 + signal
  int signal = 0;                            // that ended it
  bool timed_out = false, interrupted = false;
};

// A child counts the memory that this process had when it was started, so less is not seen.
std::int64_t peak_floor_bytes();

// Runs it in a process group of its own to its end; nothing of the group is left afterwards.
// interrupted: asked every 0.1 s; the signal that came, or 0. It is passed on, and 3 s later
// everything is killed; so it is after a time-out. Throws Error if the command cannot be started.
TimedRun run_timed(const TimedOrder& order, const std::function<int()>& interrupted);

}  // namespace lockstep::cli
