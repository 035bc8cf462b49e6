// samples.jsonl: which samples each step trained on, written on request (run.record_samples).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

// Appends {"step": S, "samples": [...]} and, when a run goes on, {"resume": S}. A record with gaps
// would prove nothing: after a line that cannot be written it has no more, until training goes on
// after a step that it has.
class SampleWriter {
 public:
  // Throws Error where the file cannot be opened or read.
  explicit SampleWriter(const std::filesystem::path& path);
  // "", or why the samples of this step and of later ones are not recorded, told once.
  std::string write(std::int64_t step, std::span<const std::int64_t> samples);
  // Training goes on after `step`; what was recorded of later steps did not count. Returns as
  // write(), of the steps after it.
  std::string resume(std::int64_t step);
  // What was written so far outlasts a power loss; any thread. Throws Error.
  void sync();

 private:
  std::string append(const std::string& line, std::int64_t step);
  std::string stop(std::string why);

  std::filesystem::path path_;
  UniqueFd file_;
  std::optional<std::int64_t> last_;  // the step up to which the record goes; nothing: none yet
  bool is_damaged_ = false;           // its last line says no step
  bool is_recording_ = true;
};

// The samples of every step that counted, in the order trained: entries of steps > S are dropped
// at each {"resume": S}. `run` is the run directory. Lines that are damaged are passed over.
std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run);

}  // namespace lockstep
