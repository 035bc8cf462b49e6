// Which CPU this machine has.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// "Intel(R) Xeon(R) Platinum 8481C"; of several kinds the first. Where the kernel gives no name, as
// on ARM, "CPU 0x41/0xd40". "" where nothing is told.
std::string cpu_model();
std::string cpu_model_of(const std::filesystem::path& cpuinfo);  // of a file like /proc/cpuinfo

}  // namespace lockstep
