// Links between GPUs, and their maximum throughput.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/device.h"

namespace lockstep {

class GpuProbe;

// Links of one GPU. 0 = unknown, or none.
struct GpuLinks {
  int switch_nvlinks = 0;                   // active NVLinks to a switch
  std::map<std::string, int> nvlinks;       // active NVLinks by PCI bus id of the GPU at their
                                            // other end
  double nvlink_bytes_per_s = 0;            // rate of one NVLink in one direction
  std::string nvlink_version;               // "4.0"
  int pcie_generation = 0, pcie_lanes = 0;  // the best that GPU and slot support together
};

struct LinkLimit {
  std::string kind;        // "NVLink", "PCIe"
  double bytes_per_s = 0;  // rate out of one GPU, and the same rate into it
  bool is_assumed = false;
  bool may_be_nvlink = false;  // PCIe is assumed, but such GPUs are often joined by NVLink
};

// The rate at which the slowest of these GPUs can send to the others. It is that of NVLink if a
// switch or direct links join every pair, and that of PCIe if none do. Nothing for a mixture, for
// one device, for CPUs, and if a number is unknown. Bridges between PCIe roots and sockets may
// allow less.
std::optional<LinkLimit> link_limit(const std::vector<Device>& devices, GpuProbe& probe);

// The rate assumed for GPUs that this machine does not have: 16 lanes of the PCIe generation that
// came with their compute capability. The slowest GPU decides. Nothing in the cases above, and for
// unknown capabilities.
std::optional<LinkLimit> assumed_link(const std::vector<Device>& devices);

}  // namespace lockstep
