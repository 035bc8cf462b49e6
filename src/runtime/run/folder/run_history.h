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
  nlohmann::json start_up;   // the "startup" event of that start, or null
  nlohmann::json ended;      // the "end" or "stop" event of the newest start, or null
  // Pairs of finished steps and the micro-batch from then on. There is more than one pair if the
  // micro-batch changed.
  std::vector<std::pair<std::int64_t, std::int64_t>> micro;
  // The micro-batch to which the run shrank when memory ran out. 0 if memory never ran out, or if a
  // larger micro-batch was used later. A resume from an earlier step does not change it.
  std::int64_t memory_left = 0;
  std::vector<nlohmann::json> evals;     // valid "eval" events, oldest first
  std::vector<nlohmann::json> warnings;  // "warning" and "checkpoint_failed" events
  std::int64_t step = 0;                 // finished steps
  // The micro-batch that is used after `step` finished steps. Returns the step since which it is
  // used, and the micro-batch itself; {-1, 0} if unknown.
  std::pair<std::int64_t, std::int64_t> micro_at(std::int64_t step) const;
  nlohmann::json best() const;  // the newest "eval" event that was the best so far, or null
};

// Reads the events without those that resumes invalidated. It is fast for long runs, because only
// the last step line of each sequence is parsed. A missing file is a run without events. Throws
// Error if the file cannot be read.
RunHistory read_history(const std::filesystem::path& events);

}  // namespace lockstep
