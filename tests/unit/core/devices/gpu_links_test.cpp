// What links allow is known only where it is the same way between all GPUs.
#include "core/devices/gpus/gpu_links.h"

#include <gtest/gtest.h>

#include "fakes/fake_probe.h"

namespace lockstep {
namespace {

class Links : public ::testing::Test {
 protected:
  Links() {
    for (int i = 0; i < 3; ++i) {
      const GpuInfo gpu = fake_gpu(i);
      devices.push_back({.kind = DeviceKind::cuda, .uuid = gpu.uuid, .pci_bus_id = gpu.pci_bus_id});
      probe.linked[gpu.uuid] = {.pcie_generation = 5, .pcie_lanes = 16};
    }
  }
  GpuLinks& of(std::size_t i) { return probe.linked[devices[i].uuid]; }
  void join(std::size_t a, std::size_t b, int nvlinks) {
    of(a).nvlinks[devices[b].pci_bus_id] = of(b).nvlinks[devices[a].pci_bus_id] = nvlinks;
    of(a).nvlink_bytes_per_s = of(b).nvlink_bytes_per_s = 25e9;
  }
  std::string limit(std::size_t count = 3) {
    const auto found = link_limit({devices.begin(), devices.begin() + count}, probe);
    return found ? found->kind + " " + std::to_string(static_cast<int>(found->bytes_per_s / 1e9))
                 : "unknown";
  }

  FakeProbe probe;
  std::vector<Device> devices;
};

TEST_F(Links, WithoutNvlinkArePcie) { EXPECT_EQ(limit(), "PCIe 63"); }

TEST_F(Links, OverASwitchAreAllNvlinksOfTheSlowestGpu) {
  for (std::size_t i = 0; i < 3; ++i) {
    of(i).switch_nvlinks = 18;
    of(i).nvlink_bytes_per_s = 25e9;
  }
  EXPECT_EQ(limit(), "NVLink 450");
  of(2).switch_nvlinks = 12;
  EXPECT_EQ(limit(), "NVLink 300");
}

TEST_F(Links, BetweenAllPairsAddUp) {
  join(0, 1, 4);
  EXPECT_EQ(limit(2), "NVLink 100");
  join(0, 2, 4);
  join(1, 2, 4);
  EXPECT_EQ(limit(), "NVLink 200");
}

TEST_F(Links, BetweenSomeAreUnknown) {
  join(0, 1, 4);
  EXPECT_EQ(limit(), "unknown");
}

TEST_F(Links, ToGpusOutsideTheRunDoNotCount) {
  join(0, 2, 4);
  EXPECT_EQ(limit(2), "PCIe 63");
}

TEST_F(Links, AreUnknownWhereANumberIs) {
  join(0, 1, 4);
  of(1).nvlink_bytes_per_s = 0;
  EXPECT_EQ(limit(2), "unknown");
  of(0) = of(1) = {};
  EXPECT_EQ(limit(2), "unknown");
  probe.linked.erase(devices[1].uuid);
  EXPECT_EQ(limit(2), "unknown");
}

TEST(AssumedLink, IsPcieOfTheSlowestGpusGeneration) {
  const auto assumed = [](const std::vector<std::pair<int, int>>& capabilities) {
    std::vector<Device> devices;
    for (const auto& [major, minor] : capabilities)
      devices.push_back({.kind = DeviceKind::cuda, .compute_major = major, .compute_minor = minor});
    const auto found = assumed_link(devices);
    if (!found) return std::string("unknown");
    EXPECT_TRUE(found->is_assumed);
    return found->kind + (found->may_be_nvlink ? " or NVLink" : "");
  };
  EXPECT_EQ(assumed({{7, 5}, {7, 5}}), "PCIe 3 x16");
  EXPECT_EQ(assumed({{8, 9}, {8, 6}}), "PCIe 4 x16");
  EXPECT_EQ(assumed({{9, 0}, {9, 0}}), "PCIe 5 x16 or NVLink");
  EXPECT_EQ(assumed({{9, 0}, {7, 5}}), "PCIe 3 x16");
  EXPECT_EQ(assumed({{12, 0}, {12, 0}}), "PCIe 5 x16");
  EXPECT_EQ(assumed({{13, 0}, {13, 0}}), "unknown");
  EXPECT_EQ(assumed({{7, 5}}), "unknown");
  EXPECT_NEAR(assumed_link(std::vector<Device>(2, {.kind = DeviceKind::cuda, .compute_major = 7}))
                  ->bytes_per_s,
              15.8e9, 0.1e9);
}

TEST_F(Links, OfOneDeviceAndOfCpusAreUnknown) {
  EXPECT_EQ(limit(1), "unknown");
  devices[1].kind = DeviceKind::cpu;
  EXPECT_EQ(limit(2), "unknown");
}

}  // namespace
}  // namespace lockstep
