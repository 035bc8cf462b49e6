// samples.jsonl: the indexes of the samples on which each step trained. It is written if
// run.record_samples is true.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Appends {"step": S, "samples": [...]} for each step, and {"resume": S} when a run resumes after
// step S. A file with gaps could not show which samples were used. So recording stops when a line
// cannot be written. Recording begins again when training resumes from a recorded step.
class SampleWriter {
 public:
  // Throws Error if the file cannot be opened or read.
  explicit SampleWriter(const std::filesystem::path& path);
  // Appends the samples of a step. Returns the reason if recording stops at this step, and
  // otherwise an empty text. Does nothing while recording is stopped.
  std::string write(std::int64_t step, std::span<const std::int64_t> samples);
  // Appends that training resumes after `step`, so recorded samples of later steps become invalid.
  // Returns the reason if recording stops here, and otherwise an empty text.
  std::string resume(std::int64_t step);
  // Makes the lines that were written so far durable. Any thread may call it. Throws Error if that
  // fails.
  void sync();

 private:
  std::string append(const std::string& line, std::int64_t step);
  std::string stop(std::string why);

  std::filesystem::path path_;
  UniqueFd file_;
  std::optional<std::int64_t> last_;  // the last recorded step; nothing if the file is empty
  bool is_damaged_ = false;           // the last line of the file has no step
  bool is_recording_ = true;
};

// Reads the samples of every valid step, in the order of training. Each {"resume": S} makes earlier
// entries with steps above S invalid. `run` is the run directory. Damaged lines are skipped.
std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run);

}  // namespace lockstep
