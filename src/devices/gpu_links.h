// What joins GPUs, and how many bytes that could carry at most.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.h"

namespace lockstep {

class GpuProbe;

// Of one GPU. 0 = unknown, or none.
struct GpuLinks {
  int switch_nvlinks = 0;                   // active NVLinks to a switch
  std::map<std::string, int> nvlinks;       // active NVLinks by PCI bus id of the GPU at their end
  double nvlink_bytes_per_s = 0;            // of one NVLink, one direction
  std::string nvlink_version;               // "4.0"
  int pcie_generation = 0, pcie_lanes = 0;  // what GPU and slot can do together
};

struct LinkLimit {
  std::string kind;        // "NVLink", "PCIe"
  double bytes_per_s = 0;  // out of one GPU, and as much into it
  bool is_assumed = false;
  bool may_be_nvlink = false;  // assumed is PCIe, but such GPUs are often joined by NVLink
};

// What the slowest of these GPUs can send to the others. NVLink where a switch or links of its own
// join each with every other, PCIe where none does; nothing in between, for one device, for CPUs
// and where a number is unknown. Bridges between PCIe roots and sockets may allow less.
std::optional<LinkLimit> link_limit(const std::vector<Device>& devices, GpuProbe& probe);

// What is assumed of GPUs that are not there: 16 lanes of the PCIe generation that their compute
// capability came with, the slowest of them. Nothing as above, and for unknown capabilities.
std::optional<LinkLimit> assumed_link(const std::vector<Device>& devices);

}  // namespace lockstep
