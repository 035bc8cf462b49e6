// Finds signs that a machine has NVIDIA GPUs, for the case that their driver does not answer.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the first sign, such as "/dev/nvidia0 exists"; "" if there is none. root: "/", or a
// folder of a test.
std::string driver_traces(const std::filesystem::path& root);

}  // namespace lockstep
