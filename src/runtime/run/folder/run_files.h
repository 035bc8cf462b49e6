// The files of a run that are made for people, besides its record, events and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct RunFolder {
  std::string name;  // "evaluations/step-000000275", "predictions"; or the name of a single file
  std::vector<std::string> files;  // files in and below the folder, sorted; empty for a single file
  std::uint64_t bytes = 0;         // bytes of all these files
  bool has_more = false;  // there are more files beyond the limits below, which are not counted
};

// Limits for the search in each of these folders: its depth, and the number of files and folders.
// They are needed because a run from elsewhere may contain any number of folders.
inline constexpr int deepest_run_file = 32;
inline constexpr std::int64_t most_run_files = 1'000'000;

// Lists the folders of evaluations, pictures and predictions, the curves and the GPU log. Those
// that are missing or empty are left out. Never throws: unreadable ones are also left out.
std::vector<RunFolder> run_files(const std::filesystem::path& run_dir);

// Opens a regular file of the run for reading. `below` is relative to the run's folder. No link is
// followed, because a run from elsewhere may link to any file. Empty if there is no such file.
UniqueFd open_run_file(const std::filesystem::path& run_dir, const std::filesystem::path& below);
// Reads the text of a file that is opened in the same way. Nothing if there is no such file. Throws
// Error if it cannot be read or has more than `most_bytes`.
std::optional<std::string> read_run_file(const std::filesystem::path& run_dir,
                                         const std::filesystem::path& below,
                                         std::uint64_t most_bytes);

}  // namespace lockstep
