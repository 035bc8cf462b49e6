#include "core/devices/gpus/gpu_links.h"

#include <algorithm>
#include <array>

#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {
namespace {

// Payload of one PCIe lane in one direction: 2.5, 5, 8, 16, 32 and 64 GT/s without the encoding.
double lane_bytes_per_s(int generation) {
  constexpr std::array<double, 7> gigabytes = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (generation < 1 || generation >= static_cast<int>(gigabytes.size())) return 0;
  return gigabytes[static_cast<std::size_t>(generation)] * 1e9;
}

// The PCIe generation of GPUs with this compute capability. 0 if unknown.
int pcie_generation_of(const Device& device) {
  constexpr int ampere = 8, hopper = 9, newest = 12;
  if (device.compute_major > newest || device.compute_major < ampere - 1) return 0;
  if (device.compute_major == ampere - 1) return 3;  // Volta and Turing
  return device.compute_major < hopper ? 4 : 5;
}

// Whether the GPU is a data centre model, which is sold both with NVLink and as a PCIe card.
bool is_sold_with_nvlink(const Device& device) {
  constexpr int ampere = 8, blackwell = 10;
  return device.compute_major >= ampere && device.compute_major <= blackwell &&
         device.compute_minor == 0;
}

struct Joined {
  int nvlinks = 0;     // to the other devices
  bool to_all = true;  // whether each of them is reached
};

Joined joined_devices(const std::vector<Device>& devices, std::size_t own, const GpuLinks& links) {
  if (links.switch_nvlinks > 0) return {.nvlinks = links.switch_nvlinks};
  Joined sum;
  for (std::size_t other = 0; other < devices.size(); ++other) {
    if (other == own) continue;
    const auto found = links.nvlinks.find(devices[other].pci_bus_id);
    if (found == links.nvlinks.end()) sum.to_all = false;
    if (found != links.nvlinks.end()) sum.nvlinks += found->second;
  }
  return sum;
}

}  // namespace

std::optional<LinkLimit> link_limit(const std::vector<Device>& devices, GpuProbe& probe) {
  if (devices.size() < 2) return std::nullopt;
  std::size_t by_nvlink = 0, by_pcie = 0;
  double nvlink = 0, pcie = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind != DeviceKind::cuda) return std::nullopt;
    const std::optional<GpuLinks> links = probe.links(devices[i].uuid);
    if (!links) return std::nullopt;
    const Joined own = joined_devices(devices, i, *links);
    const double by_links = own.nvlinks * links->nvlink_bytes_per_s;
    const double by_lanes = lane_bytes_per_s(links->pcie_generation) * links->pcie_lanes;
    nvlink = i == 0 ? by_links : std::min(nvlink, by_links);
    pcie = i == 0 ? by_lanes : std::min(pcie, by_lanes);
    if (own.nvlinks > 0 && own.to_all) ++by_nvlink;
    if (own.nvlinks == 0) ++by_pcie;
  }
  if (by_nvlink == devices.size() && nvlink > 0) return LinkLimit{"NVLink", nvlink};
  if (by_pcie == devices.size() && pcie > 0) return LinkLimit{"PCIe", pcie};
  return std::nullopt;
}

std::optional<LinkLimit> assumed_link(const std::vector<Device>& devices) {
  constexpr int lanes = 16;
  if (devices.size() < 2) return std::nullopt;
  int slowest = 0;
  bool may_be_nvlink = true;
  for (const Device& device : devices) {
    const int generation = device.kind == DeviceKind::cuda ? pcie_generation_of(device) : 0;
    if (generation == 0) return std::nullopt;
    slowest = slowest == 0 ? generation : std::min(slowest, generation);
    may_be_nvlink = may_be_nvlink && is_sold_with_nvlink(device);
  }
  return LinkLimit{.kind = cat("PCIe ", slowest, " x", lanes),
                   .bytes_per_s = lane_bytes_per_s(slowest) * lanes,
                   .is_assumed = true,
                   .may_be_nvlink = may_be_nvlink};
}

}  // namespace lockstep
