// Reads the model of this machine's CPU.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the model, such as "Intel(R) Xeon(R) Platinum 8481C". If the machine has several models,
// returns the first. If the kernel knows no name, as on ARM, returns a text such as "CPU
// 0x41/0xd40". Returns "" if nothing is known.
std::string cpu_model();
// cpuinfo: a file in the format of /proc/cpuinfo
std::string cpu_model_of(const std::filesystem::path& cpuinfo);

}  // namespace lockstep
