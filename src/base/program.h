// Where the program that runs lies, for what is found relative to it.
#pragma once

#include <filesystem>

namespace lockstep {

// Its folder, with links followed. Throws std::filesystem::filesystem_error without /proc.
std::filesystem::path program_folder();

}  // namespace lockstep
