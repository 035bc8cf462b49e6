// Where a run is, followed while it goes on: of its events only what is new is read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "run/time_left.h"

namespace lockstep {

class RunTail {
 public:
  // events: the run's events.jsonl, which need not be there yet.
  explicit RunTail(std::filesystem::path events) : path_(std::move(events)) {}

  // Takes in what was written since the last call, `most_bytes` of it at most. A file that was put
  // in the place of the last one is read from its beginning. Never throws: what cannot be read
  // tells nothing, nor does what follows a line of more than 16 MiB.
  void read_on(std::int64_t most_bytes = 64 << 20);

  std::optional<std::int64_t> step() const { return step_; }  // finished steps; nothing: unknown
  std::int64_t total_steps() const { return total_steps_; }   // 0: unknown
  std::optional<double> units_per_s() const { return units_per_s_; }  // of the last logged step
  const std::string& unit() const { return unit_; }                   // "tokens", "samples", …
  std::optional<double> seconds_left() const;  // from the last logged step on; nothing: unknown

 private:
  void take_line(const std::string& line);

  std::filesystem::path path_;
  std::int64_t offset_ = 0;  // after the last whole line that was taken
  std::optional<std::pair<dev_t, ino_t>> file_;
  bool damaged_ = false;  // a line is too long: no more of this file is read
  TimeLeft time_left_;
  std::optional<std::int64_t> step_;
  std::int64_t total_steps_ = 0;
  std::optional<double> units_per_s_;
  std::string unit_;
};

}  // namespace lockstep
