// Finds where the running program is installed, to find files relative to it.
#pragma once

#include <filesystem>

namespace lockstep {

// The program's folder, with links resolved. Throws std::filesystem::filesystem_error if /proc is
// not available.
std::filesystem::path program_folder();

}  // namespace lockstep
