// What a run holds for people, beside its record, events and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct RunFolder {
  std::string name;  // "evaluations/step-000000275", "predictions"; of a file, its own
  std::vector<std::string> files;  // in it and below, sorted; empty: it is a file itself
  std::uint64_t bytes = 0;         // of all of them
};

// The folders of evaluations, pictures and predictions, the curves and the log of the GPUs: those
// that are there and hold something. Never throws: what cannot be read is left out.
std::vector<RunFolder> run_files(const std::filesystem::path& run_dir);

}  // namespace lockstep
