// GPUs that a test describes.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

struct FakeProbe final : GpuProbe {
  std::vector<GpuInfo> present;
  std::string absent;  // why_absent()
  std::string driver = "580.65.06";
  int cuda = 13000;
  std::map<std::string, int> utilization;  // by UUID; absent: unsupported
  std::map<std::string, GpuLinks> linked;  // likewise

  std::map<int, GpuDetails> known;                // by index; absent: nothing is
  std::map<std::pair<int, int>, PciePath> paths;  // likewise, the smaller index first

  std::vector<GpuInfo> gpus() override { return present; }
  std::string why_absent() const override { return absent; }
  std::string driver_version() override { return absent.empty() ? driver : ""; }
  int cuda_driver_version() override { return absent.empty() ? cuda : 0; }
  std::optional<int> utilization_percent(const std::string& uuid) override {
    const auto found = utilization.find(uuid);
    return found == utilization.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<GpuLinks> links(const std::string& uuid) override {
    const auto found = linked.find(uuid);
    return found == linked.end() ? std::nullopt : std::optional(found->second);
  }
  GpuDetails details(int index) override {
    const auto found = known.find(index);
    return found == known.end() ? GpuDetails{} : found->second;
  }
  std::optional<PciePath> path(int a, int b) override {
    const auto found = paths.find({std::min(a, b), std::max(a, b)});
    return found == paths.end() ? std::nullopt : std::optional(found->second);
  }
};

// GPU number `index`, with the UUID GPU-<8 hex digits of index>-0000-….
inline GpuInfo fake_gpu(int index, const std::string& name = "NVIDIA H200", int major = 9,
                        int minor = 0, std::uint64_t memory_gib = 141) {
  char uuid[64], bus[32];
  std::snprintf(uuid, sizeof uuid, "GPU-%08x-0000-1111-2222-333333333333", index);
  std::snprintf(bus, sizeof bus, "0000:%02x:00.0", 16 * (index + 1));
  return {.index = index,
          .uuid = uuid,
          .name = name,
          .pci_bus_id = bus,
          .memory_total_bytes = memory_gib << 30,
          .memory_used_bytes = std::uint64_t{1} << 30,
          .compute_major = major,
          .compute_minor = minor};
}

inline FakeProbe fake_probe(int gpus, const std::string& name = "NVIDIA H200", int major = 9,
                            int minor = 0) {
  FakeProbe probe;
  for (int i = 0; i < gpus; ++i) probe.present.push_back(fake_gpu(i, name, major, minor));
  if (gpus == 0) probe.absent = "no NVIDIA driver: libnvidia-ml.so.1 is not installed";
  return probe;
}

}  // namespace lockstep
