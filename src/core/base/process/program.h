// Finds the folder of the running program, so that files can be found relative to it.
#pragma once

#include <filesystem>

namespace lockstep {

// Returns this folder, with links resolved. Throws std::filesystem::filesystem_error if /proc is
// not available.
std::filesystem::path program_folder();

}  // namespace lockstep
