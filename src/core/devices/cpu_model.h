// The model of this machine's CPU.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// "Intel(R) Xeon(R) Platinum 8481C"; the first if there are several kinds. If the kernel gives no
// name, as on ARM, "CPU 0x41/0xd40". "" if unknown.
std::string cpu_model();
std::string cpu_model_of(const std::filesystem::path& cpuinfo);  // from a file like /proc/cpuinfo

}  // namespace lockstep
