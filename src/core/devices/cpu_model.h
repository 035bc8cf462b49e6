// Reads the model of this machine's CPU.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the model, such as "Intel(R) Xeon(R) Platinum 8481C". If there are several kinds, returns
// the first. If the kernel has no name, as on ARM, returns a text such as "CPU 0x41/0xd40". Returns
// "" if unknown.
std::string cpu_model();
std::string cpu_model_of(const std::filesystem::path& cpuinfo);  // from a file like /proc/cpuinfo

}  // namespace lockstep
