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
  nlohmann::json last_step;  // the newest "step" event still valid, or null
  nlohmann::json start_up;   // "startup" of that start, or null
  nlohmann::json ended;      // the "end" or "stop" of the newest start, or null
  // Finished steps, and the micro-batch from then on: one entry, or more if it changed.
  std::vector<std::pair<std::int64_t, std::int64_t>> micro;
  // The micro-batch that the run shrank to when memory ran out; 0: memory never ran out, or a
  // larger micro-batch came later. A resume from an earlier step does not change it.
  std::int64_t memory_left = 0;
  std::vector<nlohmann::json> evals;     // those still valid, oldest first
  std::vector<nlohmann::json> warnings;  // "warning" and "checkpoint_failed"
  std::int64_t step = 0;                 // finished steps
  // The micro-batch in force after `step` finished steps: the step since which it is in force, and
  // the micro-batch itself; {-1, 0}: unknown.
  std::pair<std::int64_t, std::int64_t> micro_at(std::int64_t step) const;
  nlohmann::json best() const;  // the newest eval event that was the best so far, or null
};

// Events that resumes took back are left out. Reads long runs fast: only the last step line is
// parsed. A missing file is a run without events.
RunHistory read_history(const std::filesystem::path& events);

}  // namespace lockstep
