// Finds the links between GPUs, and their maximum throughput.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/device.h"

namespace lockstep {

class GpuProbe;

// The links of one GPU. 0 means unknown or none.
struct GpuLinks {
  int switch_nvlinks = 0;  // active NVLinks to a switch
  // Number of active NVLinks to each other GPU. The key is the PCI bus id of that GPU.
  std::map<std::string, int> nvlinks;
  double nvlink_bytes_per_s = 0;            // rate of one NVLink in one direction
  std::string nvlink_version;               // "4.0"
  int pcie_generation = 0, pcie_lanes = 0;  // the best that both GPU and slot support
};

struct LinkLimit {
  std::string kind;        // "NVLink", "PCIe"
  double bytes_per_s = 0;  // rate out of one GPU, which is also the rate into it
  bool is_assumed = false;
  bool may_be_nvlink = false;  // PCIe is assumed, although such GPUs are often connected by NVLink
};

// Returns the rate at which the slowest of these GPUs can send to the others. It is the rate of
// NVLink if a switch or direct links connect each pair. It is the rate of PCIe if no pair has
// NVLinks. Bridges between PCIe roots and sockets may allow less. Returns nothing for a mixture,
// for one device, for CPUs, and if a number is unknown.
std::optional<LinkLimit> link_limit(const std::vector<Device>& devices, GpuProbe& probe);

// Returns an assumed rate for GPUs that this machine does not have. It is the rate of 16 PCIe
// lanes. The PCIe generation follows from the compute capability. The slowest GPU decides. Returns
// nothing for one device, for CPUs, and for unknown capabilities.
std::optional<LinkLimit> assumed_link(const std::vector<Device>& devices);

}  // namespace lockstep
