// Follows a run's progress while the run trains. Each read covers only the new part of its events.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/run/progress/time_left.h"

namespace lockstep {

class RunTail {
 public:
  // events: the run's events.jsonl, which may not exist yet.
  explicit RunTail(std::filesystem::path events) : path_(std::move(events)) {}

  // Reads the events that were written since the last call, up to `most_bytes`. If another file has
  // replaced events.jsonl, reads the new file from its beginning. Never throws. Ignores unreadable
  // data, and everything after a line of more than 16 MiB.
  void read_on(std::int64_t most_bytes = 64 << 20);

  std::optional<std::int64_t> step() const { return step_; }  // finished steps; nothing if unknown
  std::int64_t total_steps() const { return total_steps_; }   // 0 = unknown
  // throughput of the last logged step
  std::optional<double> units_per_s() const { return units_per_s_; }
  const std::string& unit() const { return unit_; }  // "tokens", "samples", …
  // estimated remaining time at the last logged step; nothing if unknown
  std::optional<double> seconds_left() const;

 private:
  void take_line(const std::string& line);

  std::filesystem::path path_;
  std::int64_t offset_ = 0;  // the end of the last complete line that was read
  std::optional<std::pair<dev_t, ino_t>> file_;
  bool damaged_ = false;  // whether a line was too long, so that the file is not read further
  TimeLeft time_left_;
  std::optional<std::int64_t> step_;
  std::int64_t total_steps_ = 0;
  std::optional<double> units_per_s_;
  std::string unit_;
};

}  // namespace lockstep
