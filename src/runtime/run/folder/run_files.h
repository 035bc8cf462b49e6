// Files of a run for people, besides its record, events and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct RunFolder {
  std::string name;  // "evaluations/step-000000275", "predictions"; for a file, its own name
  std::vector<std::string> files;  // files in it and below, sorted; empty if it is a file itself
  std::uint64_t bytes = 0;         // bytes of all these files
  bool has_more = false;           // more files exist beyond the limits below, not counted
};

// Limits for searching each of these folders: the depth, and the number of files and folders. A
// stranger's run may hold folders without end.
inline constexpr int deepest_run_file = 32;
inline constexpr std::int64_t most_run_files = 1'000'000;

// The folders of evaluations, pictures and predictions, the curves and the GPU log, as far as they
// exist and hold something. Never throws: unreadable ones are left out.
std::vector<RunFolder> run_files(const std::filesystem::path& run_dir);

// Opens a regular file of the run for reading; `below` is relative to its folder. No link is
// followed: a stranger's run may hold links to other people's files. Empty if there is no such
// file.
UniqueFd open_run_file(const std::filesystem::path& run_dir, const std::filesystem::path& below);
// The file's text, opened in the same way. Throws Error if it cannot be read or is longer than
// `most_bytes`.
std::optional<std::string> read_run_file(const std::filesystem::path& run_dir,
                                         const std::filesystem::path& below,
                                         std::uint64_t most_bytes);

}  // namespace lockstep
