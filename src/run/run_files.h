// What a run holds for people, beside its record, events and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

struct RunFolder {
  std::string name;  // "evaluations/step-000000275", "predictions"; of a file, its own
  std::vector<std::string> files;  // in it and below, sorted; empty: it is a file itself
  std::uint64_t bytes = 0;         // of all of them
  bool has_more = false;           // beyond the limits below, not counted
};

// How deep below each of these folders files are looked for, and at how many files and folders: a
// stranger's run may hold folders without end.
inline constexpr int deepest_run_file = 32;
inline constexpr std::int64_t most_run_files = 1'000'000;

// The folders of evaluations, pictures and predictions, the curves and the log of the GPUs: those
// that are there and hold something. Never throws: what cannot be read is left out.
std::vector<RunFolder> run_files(const std::filesystem::path& run_dir);

// A regular file of the run, to read; `below` is relative to its folder, and no link is followed:
// a stranger's run may hold links to files of others. Empty where there is no such file.
UniqueFd open_run_file(const std::filesystem::path& run_dir, const std::filesystem::path& below);
// Its text, likewise. Throws Error where it cannot be read or is longer than that.
std::optional<std::string> read_run_file(const std::filesystem::path& run_dir,
                                         const std::filesystem::path& below,
                                         std::uint64_t most_bytes);

}  // namespace lockstep
