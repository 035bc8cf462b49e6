// Files of /proc and /sys that hold one line.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

std::string first_line(
    const std::filesystem::path& path);  // without space around it; "" if there is none

}  // namespace lockstep
