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
  double at_s = 0;  // time of the newest, on the monotonic clock
};

// Faults by PCI address ("0000:65:00.0"), in the order of their numbers. Empty if the log is
// unreadable, as for most users and in containers. log: /dev/kmsg, or its text.
std::map<std::string, std::vector<GpuFault>> gpu_faults(const std::filesystem::path& log);

// "fell off the bus"; "" for faults of programs, and for faults without consequence for the GPU's
// work.
std::string xid_meaning(int xid);

}  // namespace lockstep
