// Signs that a machine has NVIDIA GPUs, for the case that their driver does not answer.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// What was found below root ("/" outside tests), such as "/dev/nvidia0 exists"; "" for nothing.
std::string driver_traces(const std::filesystem::path& root);

}  // namespace lockstep
