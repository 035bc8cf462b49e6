// Automatic names for runs, batches and records.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// WHAT-YYYYMMDD-HHMMSS, in local time.
std::string name_by_time(const std::string& what);

// Creates a folder of that name in `root` for the caller alone, and returns the name. If the name
// is taken, appends -2, -3, and so on. A file NAME.toml in `root` also makes a name taken. Throws
// Error if the folder cannot be created.
std::string make_folder_by_time(const std::filesystem::path& root, const std::string& what);

}  // namespace lockstep
