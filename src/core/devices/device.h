// The device that a rank runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

enum class DeviceKind { cpu, cuda };

// The device of one rank: a GPU, or a part of the host's CPU.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  // cuda: index in PCI bus order, as in nvidia-smi; cpu: the rank's number on the host
  int index = 0;
  std::string uuid;        // cuda: "GPU-…"; empty for cpu
  std::string name;        // "NVIDIA H200", "CPU"
  std::string pci_bus_id;  // cuda: "0000:65:00.0"
  // total memory of the device; cpu: host memory / ranks; 0 if unknown
  std::uint64_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;  // cuda: compute capability, 9 and 0 for sm_90
  int threads = 1;                           // number of CPU threads that this rank may use
  int host_cores = 0;  // cpu: cores that all ranks of the host share; 0 if unknown
};

std::string describe(const Device& device);  // "cpu:1", "cuda:0 (NVIDIA H200)"

}  // namespace lockstep
