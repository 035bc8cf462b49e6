// samples.jsonl: the samples on which each step trained. It is written on request
// (run.record_samples).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Appends {"step": S, "samples": [...]} for each step and {"resume": S} when a run resumes. A
// record with gaps could not show which samples were used. So recording stops when a line cannot be
// written. It begins again when training resumes from a recorded step.
class SampleWriter {
 public:
  // Throws Error if the file cannot be opened or read.
  explicit SampleWriter(const std::filesystem::path& path);
  // Returns the reason if recording stops at this step, and otherwise an empty text.
  std::string write(std::int64_t step, std::span<const std::int64_t> samples);
  // Training resumes after `step`, so recorded samples of later steps become invalid. Returns the
  // reason if recording stops here, and otherwise an empty text.
  std::string resume(std::int64_t step);
  // Makes the lines written so far durable. Any thread may call it. Throws Error.
  void sync();

 private:
  std::string append(const std::string& line, std::int64_t step);
  std::string stop(std::string why);

  std::filesystem::path path_;
  UniqueFd file_;
  std::optional<std::int64_t> last_;  // the last recorded step; nothing if there is none
  bool is_damaged_ = false;           // the last line of the file has no step
  bool is_recording_ = true;
};

// Reads the samples of every valid step, in the order of training. Each {"resume": S} makes earlier
// entries with steps above S invalid. `run` is the run directory. Damaged lines are skipped.
std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run);

}  // namespace lockstep
