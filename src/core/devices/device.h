// The device that a rank runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

enum class DeviceKind { cpu, cuda };

// One device of the plan. For cpu, `index` counts the ranks that share the host's cores.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;                   // cuda: index in PCI bus order, as nvidia-smi prints it
  std::string uuid;                // cuda: "GPU-…"; empty for cpu
  std::string name;                // "NVIDIA H200", "CPU"
  std::string pci_bus_id;          // cuda: "0000:65:00.0"
  std::uint64_t memory_bytes = 0;  // total of the device; cpu: host memory / ranks; 0 = unknown
  int compute_major = 0, compute_minor = 0;  // cuda: 9, 0 for sm_90
  int threads = 1;                           // cpu cores that this rank may use
  int host_cores = 0;                        // cpu: shared by all ranks of the host; 0 = unknown
};

std::string describe(const Device& device);  // "cpu:1", "cuda:0 (NVIDIA H200)"

}  // namespace lockstep
