// What `lockstep devices` lists.
#include "core/devices/device_list.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "fakes/fake_probe.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

class DeviceLists : public ::testing::Test {
 protected:
  void SetUp() override {
    around_.root = root_.path();
    around_.ask_cuda = [] { return std::nullopt; };
  }
  void file(const std::string& path, const std::string& text) {
    fs::create_directories((root_.path() / path).parent_path());
    std::ofstream(root_.path() / path) << text;
  }
  // Two GPUs behind an NVSwitch, on two CPUs.
  FakeProbe server() {
    FakeProbe probe = fake_probe(2);
    for (int i = 0; i < 2; ++i) {
      const GpuInfo& gpu = probe.present[static_cast<std::size_t>(i)];
      probe.known[i] = {.minor = i,
                        .power_limit_w = 700.0,
                        .default_power_limit_w = 700.0 + 50 * i,
                        .compute_mode = "default",
                        .mig = false};
      probe.linked[gpu.uuid] = {.switch_nvlinks = 18, .nvlink_version = "4.0"};
      file("dev/nvidia" + std::to_string(i), "");
      file("sys/bus/pci/devices/" + gpu.pci_bus_id + "/numa_node", std::to_string(i) + "\n");
      file("sys/bus/pci/devices/" + gpu.pci_bus_id + "/local_cpulist",
           i == 0 ? "0-31\n" : "32-63\n");
    }
    probe.paths[{0, 1}] = PciePath::between_cpus;
    return probe;
  }
  DeviceList list(FakeProbe& probe) {
    return list_devices(probe, {.cores = 8, .memory_bytes = std::uint64_t{64} << 30}, around_);
  }

  TemporaryDirectory root_;
  DeviceSurroundings around_;
};

TEST_F(DeviceLists, HaveEveryNumberOfAGpuSideBySide) {
  FakeProbe probe = server();
  around_.visible = "1";
  const DeviceList devices = list(probe);
  ASSERT_EQ(devices.gpus.size(), 2u);
  EXPECT_EQ(devices.gpus[0].cuda, std::nullopt);
  EXPECT_EQ(devices.gpus[1].cuda, 0);
  EXPECT_EQ(devices.gpus[1].device_file, "/dev/nvidia1");
  EXPECT_EQ(devices.gpus[1].denied, "");
  EXPECT_EQ(devices.gpus[1].numa_node, 1);
  EXPECT_EQ(devices.gpus[1].cpus, "32-63");
  EXPECT_EQ(to_text(devices),
            "NVIDIA driver 580.65.06, CUDA 13.0\n"
            "\n"
            "GPU  cuda  device file   PCI           NUMA  near CPUs  UUID\n"
            "0    -     /dev/nvidia0  0000:10:00.0  0     0-31       "
            "GPU-00000000-0000-1111-2222-333333333333\n"
            "1    0     /dev/nvidia1  0000:20:00.0  1     32-63      "
            "GPU-00000001-0000-1111-2222-333333333333\n"
            "\n"
            "GPU  name         memory   capability  power limit     compute mode  MIG  opens\n"
            "0    NVIDIA H200  141 GiB  9.0         700 W           default       off  yes\n"
            "1    NVIDIA H200  141 GiB  9.0         700 W, not 750  default       off  yes\n"
            "\n"
            "links of 0-1: 18 NVLinks 4.0 to a switch\n"
            "CPU: 8 cores, 64 GiB; as devices 2 ranks of 4 threads (--devices cpu)\n"
            "note: CUDA_VISIBLE_DEVICES=1 hides 1 of 2 GPUs\n");
}

TEST_F(DeviceLists, HaveNullInJsonForWhatIsNotKnown) {
  FakeProbe probe = fake_probe(2, "Tesla T4", 7, 5);
  for (GpuInfo& gpu : probe.present) gpu.memory_total_bytes.reset();
  const DeviceList devices = list(probe);
  const nlohmann::json json = to_json(devices);
  const nlohmann::json& gpu = json["gpus"][0];
  for (const char* key : {"device_file", "opens", "denied", "numa_node", "cpus", "memory_bytes",
                          "power_limit_w", "default_power_limit_w", "compute_mode", "mig", "fault"})
    EXPECT_TRUE(gpu.at(key).is_null()) << key;
  EXPECT_EQ(gpu["cuda_ordinal"], 0);
  EXPECT_EQ(gpu["compute_capability"], "7.5");
  EXPECT_EQ(json["links"][0]["nvlinks"], 0);
  EXPECT_TRUE(json["links"][0]["pcie"].is_null());
  EXPECT_NE(to_text(devices).find(
                "0    Tesla T4  ?       7.5         ?            ?             ?    ?\n"),
            std::string::npos)
      << to_text(devices);
  EXPECT_NE(to_text(devices).find("links of 0-1: not known\n"), std::string::npos);
}

TEST_F(DeviceLists, PutPairsThatAreJoinedAlikeInOneLine) {
  FakeProbe probe = fake_probe(4);
  auto direct = [&](int a, int b) {
    probe.linked[probe.present[static_cast<std::size_t>(a)].uuid] = {
        .nvlinks = {{probe.present[static_cast<std::size_t>(b)].pci_bus_id, 4}}};
  };
  direct(0, 1);
  direct(1, 0);
  direct(2, 3);
  direct(3, 2);
  for (int a = 0; a < 2; ++a)
    for (int b = 2; b < 4; ++b) probe.paths[{a, b}] = PciePath::same_cpu;
  const std::string text = to_text(list(probe));
  EXPECT_NE(text.find("links of 0-1, 2-3: 4 NVLinks\n"
                      "links of 0-2, 0-3, 1-2, 1-3: through the CPU of both\n"),
            std::string::npos)
      << text;
}

TEST_F(DeviceLists, SayWhyADeviceFileCannotBeOpened) {
  FakeProbe probe = server();
  fs::remove(root_.path() / "dev/nvidia1");
  const DeviceList devices = list(probe);
  EXPECT_EQ(devices.gpus[1].denied, "it is not there (a container without this GPU?)");
  EXPECT_EQ(to_json(devices)["gpus"][1]["opens"], false);
  EXPECT_EQ(devices.notes,
            (std::vector<std::string>{"/dev/nvidia1 of GPU 1 cannot be opened: it is not there (a "
                                      "container without this GPU?)"}));
}

TEST_F(DeviceLists, NameWhatIsOddAboutAGpu) {
  FakeProbe probe = server();
  probe.present[0].fault = "GPU is lost";
  probe.present[1].compute_major = 6;
  probe.known[1].compute_mode = "prohibited";
  probe.cuda = 12020;
  around_.cuda_needed = 13000;
  const std::string text = to_text(list(probe));
  for (const char* note :
       {"note: CUDA's own numbers are not known", "note: GPU 0 cannot be used: GPU is lost\n",
        "note: GPU 1 is too old for Lockstep: compute capability 6.0, at least 7.5 is needed\n",
        "note: GPU 1 takes no program: its compute mode is prohibited\n",
        "note: NVIDIA driver 580.65.06 offers CUDA 12.2, but this build needs CUDA 13.0; install"})
    EXPECT_NE(text.find(note), std::string::npos) << note << "\n" << text;
}

TEST_F(DeviceLists, HaveTheInstancesOfASplitGpuOnceInTheLinks) {
  FakeProbe probe = fake_probe(2);
  probe.present.insert(probe.present.begin(), probe.present[0]);
  probe.present[0].uuid = "MIG-1";
  probe.present[1].uuid = "MIG-2";
  const DeviceList devices = list(probe);
  EXPECT_EQ(devices.gpus.size(), 3u);
  EXPECT_EQ(devices.pairs.size(), 1u);
  EXPECT_EQ(to_json(devices)["gpus"][0]["mig_instance"], true);
}

TEST_F(DeviceLists, ShowTheCpuWhereThereIsNoDriver) {
  FakeProbe probe = fake_probe(0);
  EXPECT_EQ(to_text(list(probe)),
            "no GPU: no NVIDIA driver: libnvidia-ml.so.1 is not installed\n"
            "CPU: 8 cores, 64 GiB; as devices 2 ranks of 4 threads (--devices cpu)\n");
  EXPECT_EQ(to_json(list(probe))["gpus"], nlohmann::json::array());
  EXPECT_TRUE(to_json(list(probe))["driver"].is_null());
}

TEST_F(DeviceLists, DoNotTakeHardwareWithoutADriverForNoHardware) {
  file("sys/bus/pci/devices/0000:65:00.0/vendor", "0x10de\n");
  file("sys/bus/pci/devices/0000:65:00.0/class", "0x030200\n");
  FakeProbe probe = fake_probe(0);
  EXPECT_EQ(
      list(probe).notes,
      (std::vector<std::string>{"this machine has NVIDIA hardware (PCI device 0000:65:00.0 is an "
                                "NVIDIA GPU), but no GPU is to be had; does nvidia-smi work?"}));
}

TEST_F(DeviceLists, DoNotTakeAnUnknownNumaNodeForANumber) {
  FakeProbe probe = server();
  file("sys/bus/pci/devices/" + probe.present[0].pci_bus_id + "/numa_node", "-1\n");
  EXPECT_EQ(list(probe).gpus[0].numa_node, std::nullopt);
}

}  // namespace
}  // namespace lockstep
