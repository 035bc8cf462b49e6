// Lists and opens the files of a run that people look at, such as tables, pictures and predictions.
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
  bool has_more = false;           // true if the limits below left out files
};

// Limits of run_files for each folder: the depth of subfolders, and the number of files and
// subfolders. They are needed because a run that was copied from elsewhere may contain any number
// of folders.
inline constexpr int deepest_run_file = 32;
inline constexpr std::int64_t most_run_files = 1'000'000;

// Lists the folders of evaluations, pictures and predictions, and the files curves.svg and gpu.csv.
// Folders and files that are missing, empty or unreadable are left out. Never throws.
std::vector<RunFolder> run_files(const std::filesystem::path& run_dir);

// Opens a regular file of the run for reading. `below` is relative to the run directory. No link is
// followed, because a run that was copied from elsewhere may link to any file. Empty if there is no
// such file.
UniqueFd open_run_file(const std::filesystem::path& run_dir, const std::filesystem::path& below);
// Opens a file with open_run_file, and returns its text. Returns nothing if there is no such file.
// Throws Error if the file cannot be read or has more than `most_bytes`.
std::optional<std::string> read_run_file(const std::filesystem::path& run_dir,
                                         const std::filesystem::path& below,
                                         std::uint64_t most_bytes);

}  // namespace lockstep
