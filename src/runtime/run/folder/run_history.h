// The parts of a run's events that a summary needs, read in one pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace lockstep {

struct RunHistory {
  nlohmann::json start;      // the newest "start" event, or null
  nlohmann::json last_step;  // the newest valid "step" event, or null
  nlohmann::json start_up;   // the "startup" event after `start`, or null
  nlohmann::json ended;      // the "end" or "stop" event after `start`, or null
  // Pairs of a number of finished steps and the micro-batch that is used after them. There is more
  // than one pair if the micro-batch changed.
  std::vector<std::pair<std::int64_t, std::int64_t>> micro;
  // The micro-batch to which the run was reduced when memory ran out. 0 if memory never ran out, or
  // if a larger micro-batch was used later. A resume from an earlier step does not change this
  // number.
  std::int64_t memory_left = 0;
  std::vector<nlohmann::json> evals;     // valid "eval" events, oldest first
  std::vector<nlohmann::json> warnings;  // "warning" and "checkpoint_failed" events
  std::int64_t step = 0;                 // finished steps
  // The micro-batch that is used after `step` finished steps. Returns the step since which it is
  // used, and the micro-batch itself; {-1, 0} if unknown.
  std::pair<std::int64_t, std::int64_t> micro_at(std::int64_t step) const;
  nlohmann::json best() const;  // the newest "eval" event that was the best so far, or null
};

// Reads the events. If the run was resumed from an earlier step, events of the repeated steps are
// left out ("valid" above). Fast for long runs, because only the last of several consecutive "step"
// lines is parsed. A missing file counts as a run without events. Throws Error if the file cannot
// be read.
RunHistory read_history(const std::filesystem::path& events);

}  // namespace lockstep
