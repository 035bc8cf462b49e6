// Names of runs, batches and records that nobody named.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// WHAT-YYYYMMDD-HHMMSS, by the local time.
std::string name_by_time(const std::string& what);

// Makes a folder of that name in `root`, for the caller alone, and returns the name. Whoever begins
// another in the same second gets one that ends with -2, -3, …; a file NAME.toml beside it counts
// as one. Throws Error where it cannot be made.
std::string make_folder_by_time(const std::filesystem::path& root, const std::string& what);

}  // namespace lockstep
