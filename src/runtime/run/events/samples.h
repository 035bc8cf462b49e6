// samples.jsonl: the samples that each step trained on, written on request (run.record_samples).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Appends {"step": S, "samples": [...]} and, when a run resumes, {"resume": S}. A record with gaps
// would prove nothing. So after a failed line no more lines are written, until training resumes
// after a step that the record contains.
class SampleWriter {
 public:
  // Throws Error if the file cannot be opened or read.
  explicit SampleWriter(const std::filesystem::path& path);
  // Returns "", or once the reason why this step and later ones are not recorded.
  std::string write(std::int64_t step, std::span<const std::int64_t> samples);
  // Training resumes after `step`; recorded samples of later steps become invalid. Returns the same
  // as write(), for the steps after it.
  std::string resume(std::int64_t step);
  // Makes the lines written so far survive a power loss. Any thread. Throws Error.
  void sync();

 private:
  std::string append(const std::string& line, std::int64_t step);
  std::string stop(std::string why);

  std::filesystem::path path_;
  UniqueFd file_;
  std::optional<std::int64_t> last_;  // the step up to which the record goes; nothing: none yet
  bool is_damaged_ = false;           // its last line names no step
  bool is_recording_ = true;
};

// The samples of every valid step, in the order of training: entries of steps > S are dropped at
// each {"resume": S}. `run` is the run directory. Damaged lines are skipped.
std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run);

}  // namespace lockstep
