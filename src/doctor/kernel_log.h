// Faults of GPUs that NVIDIA's driver wrote into the kernel's log.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

struct GpuFault {
  int xid = 0;  // NVIDIA's number for the kind of fault
  int times = 0;
  double at_s = 0;  // of the newest, on the monotonic clock
};

// By PCI address ("0000:65:00.0"), in the order of their numbers; empty where the log may not be
// read, which is so for most users and in containers. log: /dev/kmsg, or its text.
std::map<std::string, std::vector<GpuFault>> gpu_faults(const std::filesystem::path& log);

// "fell off the bus"; "" for faults of programs, and those that mean nothing to the GPU's work.
std::string xid_meaning(int xid);

}  // namespace lockstep
