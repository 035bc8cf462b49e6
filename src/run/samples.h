// samples.jsonl: which samples each step trained on, written on request (run.record_samples).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

// Appends {"step": S, "samples": [...]} and, when a run goes on, {"resume": S}. Throws Error if a
// line cannot be written: a record with gaps would prove nothing.
class SampleWriter {
 public:
  explicit SampleWriter(const std::filesystem::path& path);
  void write(std::int64_t step, std::span<const std::int64_t> samples);
  // Training goes on after `step`; what was recorded of later steps did not count.
  void resume(std::int64_t step);
  // What was written so far outlasts a power loss; any thread. Throws Error.
  void sync();

 private:
  void append(const std::string& line);

  std::filesystem::path path_;
  UniqueFd file_;
};

// The samples of every step that counted, in the order trained: entries of steps > S are dropped
// at each {"resume": S}. `run` is the run directory. Lines that are damaged are passed over.
std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run);

}  // namespace lockstep
