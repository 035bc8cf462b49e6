// Signs that a machine has NVIDIA GPUs, for when their driver does not answer.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// A sign below root ("/" outside tests), such as "/dev/nvidia0 exists"; "" if there is none.
std::string driver_traces(const std::filesystem::path& root);

}  // namespace lockstep
