// Finds signs that a machine has NVIDIA GPUs although their driver does not answer.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the first sign that it finds, such as "/dev/nvidia0 exists"; "" if it finds none. root:
// "/", or another folder in tests.
std::string driver_traces(const std::filesystem::path& root);

}  // namespace lockstep
