// Makes names for runs, batches and records that the user did not name.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns WHAT-YYYYMMDD-HHMMSS, with the present local time.
std::string name_by_time(const std::string& what);

// Creates a new folder in `root`, named as by name_by_time, and returns its name. If the name is
// taken, appends -2, -3, and so on. A name is also taken if `root` has a file NAME.toml. Throws
// Error if the folder cannot be created.
std::string make_folder_by_time(const std::filesystem::path& root, const std::string& what);

}  // namespace lockstep
