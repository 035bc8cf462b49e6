// Where the running program is installed, to find files relative to it.
#pragma once

#include <filesystem>

namespace lockstep {

// The program's folder, with links resolved. Throws std::filesystem::filesystem_error without
// /proc.
std::filesystem::path program_folder();

}  // namespace lockstep
