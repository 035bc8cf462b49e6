// The parts of a run's events that a summary needs, read in one pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

struct RunHistory {
  nlohmann::json start;      // the newest "start" event, or null
  nlohmann::json last_step;  // the newest "step" event that counts, or null
  nlohmann::json start_up;   // its "startup", or null
  nlohmann::json ended;      // the "end" or "stop" of the newest start, or null
  // Finished steps, and the micro-batch from then on: one entry, or more where it changed.
  std::vector<std::pair<std::int64_t, std::int64_t>> micro;
  // Likewise, of those where memory ran out alone.
  std::vector<std::pair<std::int64_t, std::int64_t>> shrunk;
  std::vector<nlohmann::json> evals;     // that count, oldest first
  std::vector<nlohmann::json> warnings;  // "warning" and "checkpoint_failed"
  std::int64_t step = 0;                 // finished steps
  nlohmann::json best() const;           // the newest eval that was the best so far, or null
};

// What resumes took back is left out. Reads long runs fast: of the step lines only the last is
// parsed. A missing file is a run without events.
RunHistory read_history(const std::filesystem::path& events);

}  // namespace lockstep
