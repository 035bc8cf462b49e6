// Automatic names for runs, batches and records.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// WHAT-YYYYMMDD-HHMMSS, in local time.
std::string name_by_time(const std::string& what);

// Creates a folder of that name in `root`, for the caller alone, and returns the name. A second one
// in the same second gets a name that ends with -2, -3, …. A file NAME.toml beside it counts as
// taken too. Throws Error if the folder cannot be created.
std::string make_folder_by_time(const std::filesystem::path& root, const std::string& what);

}  // namespace lockstep
