// Reads files in /proc and /sys that have one line.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the first line of the file, without spaces around it; "" if it cannot be read.
std::string first_line(const std::filesystem::path& path);

}  // namespace lockstep
