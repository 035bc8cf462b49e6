// Reads the faults of GPUs that NVIDIA's driver wrote into the kernel's log.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

struct GpuFault {
  int xid = 0;  // NVIDIA's number for the kind of fault
  int times = 0;
  double at_s = 0;  // time of the newest fault, on the monotonic clock
};

// Returns the faults for each PCI address ("0000:65:00.0"), in the order of their numbers. Returns
// a map without entries if the log cannot be read, as for most users and in containers. log:
// /dev/kmsg, or a file with its text.
std::map<std::string, std::vector<GpuFault>> gpu_faults(const std::filesystem::path& log);

// Returns the meaning of a fault, such as "it fell off the bus". Returns "" for faults that
// programs cause, and for faults that do not affect the work of the GPU.
std::string xid_meaning(int xid);

}  // namespace lockstep
