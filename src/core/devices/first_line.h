// Reads files of /proc and /sys that have one line.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the first line without spaces around it; "" if there is none.
std::string first_line(const std::filesystem::path& path);

}  // namespace lockstep
