// Finds the links between GPUs (NVLink, PCIe), and their maximum throughput.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/device.h"

namespace lockstep {

class GpuProbe;

// The links of one GPU. A number is 0 if it is unknown, or if there is no such link.
struct GpuLinks {
  int switch_nvlinks = 0;  // number of active NVLinks to an NVSwitch
  // Number of active NVLinks to each other GPU. The key is the PCI bus id of that GPU.
  std::map<std::string, int> nvlinks;
  double nvlink_bytes_per_s = 0;            // throughput of one NVLink in one direction
  std::string nvlink_version;               // "4.0"
  int pcie_generation = 0, pcie_lanes = 0;  // the highest that both the GPU and its slot support
};

struct LinkLimit {
  std::string kind;        // "NVLink", "PCIe"
  double bytes_per_s = 0;  // throughput out of one GPU, and at the same time into it
  // true if assumed_link made it, so it was not read from GPUs
  bool is_assumed = false;
  // PCIe is assumed, but GPUs of this model are often connected by NVLink
  bool may_be_nvlink = false;
};

// Returns the throughput at which the slowest of these GPUs can send to the others. If each pair is
// connected by NVLink, directly or through an NVSwitch, it is that of NVLink. If no pair is
// connected by NVLink, it is that of PCIe, although connections between PCIe roots or CPU sockets
// may be slower. Returns nothing if only some pairs have NVLink, for one device, for CPUs, or if a
// number is unknown.
std::optional<LinkLimit> link_limit(const std::vector<Device>& devices, GpuProbe& probe);

// Returns an assumed throughput for GPUs that this machine does not have. It is that of 16 PCIe
// lanes of the slowest GPU. The PCIe generation follows from the compute capability. Returns
// nothing for one device, for CPUs, or if a compute capability is unknown.
std::optional<LinkLimit> assumed_link(const std::vector<Device>& devices);

}  // namespace lockstep
