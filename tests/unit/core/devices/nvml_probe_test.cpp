// make_nvml_probe() over a fake library, through dlopen.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {
namespace {

class NvmlProbe : public ::testing::Test {
 protected:
  void SetUp() override { setenv("LOCKSTEP_NVML", LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so", 1); }
  void TearDown() override {
    unsetenv("LOCKSTEP_NVML");
    unsetenv("FAKE_NVML");
  }
  std::unique_ptr<GpuProbe> probe(const std::string& json) {
    const auto path = folder_.path() / "gpus.json";
    write_file_atomic(path, json);
    setenv("FAKE_NVML", path.c_str(), 1);
    return make_nvml_probe();
  }
  TemporaryDirectory folder_;
};

constexpr const char* two_t4 = R"({"driver": "580.95.05", "cuda": 13010, "gpus": [
  {"uuid": "GPU-aa", "name": "Tesla T4", "domain": 0, "bus": 101, "device": 4,
   "memory": 16106127360, "used": 1048576, "major": 7, "minor": 5, "utilization": 40},
  {"uuid": "GPU-bb", "name": "Tesla T4", "domain": 1, "bus": 175, "major": 7, "minor": 5}]})";

TEST_F(NvmlProbe, ReadsEveryGpuInOrder) {
  auto nvml = probe(two_t4);
  EXPECT_EQ(nvml->why_absent(), "");
  EXPECT_EQ(nvml->driver_version(), "580.95.05");
  EXPECT_EQ(nvml->cuda_driver_version(), 13010);
  const auto gpus = nvml->gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].index, 0);
  EXPECT_EQ(gpus[0].uuid, "GPU-aa");
  EXPECT_EQ(gpus[0].name, "Tesla T4");
  EXPECT_EQ(gpus[0].pci_bus_id, "0000:65:04.0");
  EXPECT_EQ(gpus[0].memory_total_bytes, 16106127360u);
  EXPECT_EQ(gpus[0].memory_used_bytes, 1048576u);
  EXPECT_EQ(gpus[0].compute_major, 7);
  EXPECT_EQ(gpus[0].compute_minor, 5);
  EXPECT_EQ(gpus[1].index, 1);
  EXPECT_EQ(gpus[1].pci_bus_id, "0001:af:00.0");
}

TEST_F(NvmlProbe, TellsUnsupportedUtilizationFromZero) {
  auto nvml = probe(two_t4);
  EXPECT_EQ(nvml->utilization_percent("GPU-aa"), 40);
  EXPECT_EQ(nvml->utilization_percent("GPU-bb"), std::nullopt);
  EXPECT_EQ(nvml->utilization_percent("GPU-none"), std::nullopt);
}

TEST_F(NvmlProbe, ReadsNvlinksThatAreUpAndThePcieSlot) {
  auto nvml = probe(R"({"gpus": [
    {"uuid": "GPU-aa", "bus": 1, "nvlink_mbps": 25000, "nvlinks": ["switch", null, "switch", 2],
     "pcie": [5, 16]},
    {"uuid": "GPU-bb", "bus": 2}]})");
  const auto links = nvml->links("GPU-aa");
  ASSERT_TRUE(links);
  EXPECT_EQ(links->switch_nvlinks, 2);
  EXPECT_EQ(links->nvlinks, (std::map<std::string, int>{{"0000:02:00.0", 1}}));
  EXPECT_EQ(links->nvlink_bytes_per_s, 25e9);
  EXPECT_EQ(links->pcie_generation, 5);
  EXPECT_EQ(links->pcie_lanes, 16);
  EXPECT_EQ(nvml->links("GPU-bb")->nvlink_bytes_per_s, 0);
  EXPECT_EQ(nvml->links("GPU-bb")->pcie_lanes, 0);
  EXPECT_FALSE(nvml->links("GPU-none"));
  EXPECT_FALSE(nvml->links("MIG-1"));
}

TEST_F(NvmlProbe, ShowsTheInstancesOfASplitGpuInItsPlace) {
  auto nvml = probe(R"({"gpus": [{"uuid": "GPU-aa", "name": "NVIDIA H100", "bus": 1, "major": 9,
    "mig": [{"uuid": "MIG-1", "name": "NVIDIA H100 MIG 3g.40gb", "memory": 40},
            {"uuid": "MIG-2", "name": "NVIDIA H100 MIG 3g.40gb", "memory": 41}]},
    {"uuid": "GPU-bb", "name": "NVIDIA H100", "bus": 2, "major": 9}]})");
  const auto gpus = nvml->gpus();
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_EQ(gpus[0].uuid, "MIG-1");
  EXPECT_EQ(gpus[1].uuid, "MIG-2");
  EXPECT_EQ(gpus[1].index, 0);
  EXPECT_EQ(gpus[1].compute_major, 9);
  EXPECT_EQ(gpus[1].pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(gpus[1].memory_total_bytes, 41u);
  EXPECT_EQ(gpus[2].uuid, "GPU-bb");
  EXPECT_EQ(gpus[2].index, 1);
}

TEST_F(NvmlProbe, KeepsALostGpuWithItsFaultAndLeavesOutAForbiddenOne) {
  auto nvml = probe(R"({"gpus": [{"uuid": "GPU-aa", "error": 4}, {"uuid": "GPU-bb", "error": 15},
                                 {"uuid": "GPU-cc", "name": "Tesla T4"}]})");
  const auto gpus = nvml->gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].index, 1);
  EXPECT_EQ(gpus[0].fault, "GPU is lost");
  EXPECT_EQ(gpus[1].index, 2);
  EXPECT_EQ(gpus[1].fault, "");
}

TEST_F(NvmlProbe, KnowsErrorsOfTheMemoryWhereTheGpuCountsThem) {
  auto nvml = probe(R"({"gpus": [{"uuid": "GPU-aa", "ecc_uncorrected": 3,
    "remapped_rows": [5, 6, 1, 0]}, {"uuid": "GPU-bb", "remapped_rows": [0, 0, 0, 1]}]})");
  EXPECT_EQ(nvml->details(0).ecc_uncorrected, 3u);
  EXPECT_TRUE(nvml->details(0).remap_pending);
  EXPECT_FALSE(nvml->details(0).remap_failed);
  EXPECT_EQ(nvml->details(1).ecc_uncorrected, std::nullopt);
  EXPECT_FALSE(nvml->details(1).remap_pending);
  EXPECT_TRUE(nvml->details(1).remap_failed);
}

TEST_F(NvmlProbe, SaysWhyTheDriverDoesNotAnswer) {
  auto nvml = probe(R"({"init": 18, "gpus": [{"uuid": "GPU-aa"}]})");
  EXPECT_EQ(nvml->why_absent(),
            "the NVIDIA driver does not answer: Driver/library version mismatch");
  EXPECT_TRUE(nvml->gpus().empty());
  EXPECT_EQ(nvml->driver_version(), "");
  EXPECT_EQ(nvml->cuda_driver_version(), 0);
  EXPECT_EQ(nvml->utilization_percent("GPU-aa"), std::nullopt);
}

TEST_F(NvmlProbe, SaysThatTheLibraryIsNotThere) {
  setenv("LOCKSTEP_NVML", "/nonexistent/libnvidia-ml.so", 1);
  auto nvml = make_nvml_probe();
  EXPECT_TRUE(nvml->why_absent().starts_with("LOCKSTEP_NVML: /nonexistent")) << nvml->why_absent();
  EXPECT_TRUE(nvml->gpus().empty());
}

TEST_F(NvmlProbe, SaysWhichFunctionAForeignLibraryLacks) {
  setenv("LOCKSTEP_NVML", "libc.so.6", 1);
  EXPECT_EQ(make_nvml_probe()->why_absent(),
            "the NVIDIA management library is too old: it lacks nvmlInit_v2");
}

TEST_F(NvmlProbe, AGpuThatIsLostDoesNotAnswer) {
  auto nvml = probe(two_t4);
  const std::vector<Device> devices{{.kind = DeviceKind::cuda, .index = 0, .uuid = "GPU-aa"},
                                    {.kind = DeviceKind::cuda, .index = 1, .uuid = "GPU-bb"},
                                    {.kind = DeviceKind::cpu}};
  EXPECT_EQ(still_answering(devices, *nvml).size(), 3u);
  // Fallen off the bus: listed, but its handle is an error.
  write_file_atomic(folder_.path() / "gpus.json", R"({"gpus": [{"uuid": "GPU-aa", "error": 15},
    {"uuid": "GPU-bb", "name": "Tesla T4", "major": 7, "minor": 5}]})");
  auto left = still_answering(devices, *nvml);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].uuid, "GPU-bb");
  // After a reboot it is not even listed.
  write_file_atomic(folder_.path() / "gpus.json", R"({"gpus": []})");
  left = still_answering(devices, *nvml);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].kind, DeviceKind::cpu);
}

}  // namespace
}  // namespace lockstep
