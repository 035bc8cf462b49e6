#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "fakes/fake_probe.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SelectDevices : public ::testing::Test {
 protected:
  std::vector<Device> select(const std::string& spec, const char* visible = nullptr) {
    return select_devices(spec, probe_, host_, visible, cuda_needed_, root_.path());
  }
  std::vector<int> indexes(const std::string& spec, const char* visible = nullptr) {
    std::vector<int> result;
    for (const Device& device : select(spec, visible)) result.push_back(device.index);
    return result;
  }
  std::string error(const std::string& spec, const char* visible = nullptr) {
    return error_of([&] { select(spec, visible); });
  }
  void present(const std::string& path, const std::string& text = "") {
    make_directories((root_.path() / path).parent_path());
    write_file_atomic(root_.path() / path, text);
  }
  FakeProbe probe_ = fake_probe(4);
  HostInfo host_{.cores = 32, .memory_bytes = std::uint64_t{64} << 30};
  int cuda_needed_ = 13000;
  TemporaryDirectory root_;
};

using Indexes = std::vector<int>;

TEST_F(SelectDevices, TakesEveryGpuForAll) {
  const auto devices = select("all");
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(describe(devices[3]), "cuda:3 (NVIDIA H200)");
  EXPECT_EQ(devices[3].uuid, probe_.present[3].uuid);
  EXPECT_EQ(devices[3].pci_bus_id, "0000:40:00.0");
  EXPECT_EQ(devices[3].memory_bytes, std::uint64_t{141} << 30);
  EXPECT_EQ(devices[3].compute_major, 9);
  EXPECT_EQ(devices[3].threads, 8);
}

TEST_F(SelectDevices, SharesTheHostsCoresWithoutAGpu) {
  probe_ = fake_probe(0);
  const auto devices = select("all");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(describe(devices[1]), "cpu:1");
  EXPECT_EQ(devices[1].threads, 16);
  EXPECT_EQ(devices[1].memory_bytes, std::uint64_t{32} << 30);
  EXPECT_EQ(devices[1].uuid, "");
  host_.cores = 1;
  EXPECT_EQ(select("all").size(), 1u);
  EXPECT_EQ(select("auto").size(), 1u) << "as other programs call it";
}

TEST_F(SelectDevices, GivesCpuRanksTheThreadsThatTheUserAskedFor) {
  host_.rank_threads = 3;
  EXPECT_EQ(select("cpu:2")[1].threads, 3);
  EXPECT_EQ(select("0")[0].threads, host_.cores) << "a GPU's rank";
}

TEST_F(SelectDevices, NeverGivesARankLessThanOneCoreNorAllMoreThanThereAre) {
  for (int cores = 1; cores <= 130; ++cores) {
    host_.cores = cores;
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const auto devices = select("cpu:" + std::to_string(ranks));
      ASSERT_EQ(devices.size(), static_cast<std::size_t>(ranks));
      int sum = 0;
      for (const Device& device : devices) {
        EXPECT_GE(device.threads, 1);
        sum += device.threads;
      }
      EXPECT_LE(sum, std::max(cores, ranks));
      EXPECT_GT(sum + ranks, cores);
    }
  }
}

TEST_F(SelectDevices, TakesCpusThoughThereAreGpus) {
  EXPECT_EQ(select("cpu").size(), 2u);
  EXPECT_EQ(select("cpu:3").size(), 3u);
  EXPECT_EQ(select("cpu:3")[0].kind, DeviceKind::cpu);
}

TEST_F(SelectDevices, RefusesANumberOfCpusThatIsNone) {
  for (const char* spec : {"cpu:0", "cpu:-1", "cpu:x", "cpu:", "cpu:2x", "cpu:99999999999"}) {
    EXPECT_THAT(error(spec), HasSubstr("the number of CPU ranks must be from 1 to")) << spec;
  }
}

TEST_F(SelectDevices, KeepsTheOrderInWhichGpusAreNamed) {
  EXPECT_EQ(indexes("2,0"), (Indexes{2, 0}));
  EXPECT_EQ(indexes(" 1 , 3 "), (Indexes{1, 3}));
  EXPECT_EQ(select("2,0")[0].threads, 16);
}

TEST_F(SelectDevices, CountsIndexesAmongVisibleGpus) {
  EXPECT_EQ(indexes("all", "3,1"), (Indexes{3, 1}));
  EXPECT_EQ(indexes("0", "3,1"), (Indexes{3}));
  EXPECT_EQ(indexes("all", "GPU-00000002,0"), (Indexes{2, 0}));
  EXPECT_THAT(error("2", "3,1"), AllOf(HasSubstr("no GPU 2 among those that CUDA_VISIBLE_DEVICES"),
                                       HasSubstr("0 NVIDIA H200, 1 NVIDIA H200")));
}

TEST_F(SelectDevices, StopsReadingVisibleGpusAtMinusOneAsCudaDoes) {
  EXPECT_EQ(indexes("all", "2,-1,0"), (Indexes{2}));
}

TEST_F(SelectDevices, UsesTheCpuWhereTheUserHidesAllGpus) {
  present("dev/nvidia0");
  for (const char* visible : {"", "-1", "none", "void", "NoDevFiles"}) {
    EXPECT_EQ(select("all", visible)[0].kind, DeviceKind::cpu) << visible;
    EXPECT_THAT(error("0", visible), HasSubstr("hides them all")) << visible;
  }
}

TEST_F(SelectDevices, RefusesVisibleGpusThatAreNotThere) {
  EXPECT_THAT(error("all", "7"), HasSubstr("CUDA_VISIBLE_DEVICES is \"7\", but there is no GPU 7"));
  EXPECT_THAT(error("all", "zero"), HasSubstr("neither an index nor a UUID"));
  EXPECT_THAT(error("all", "GPU-ffff"), HasSubstr("no GPU here has a UUID that starts"));
  EXPECT_THAT(error("all", "GPU-0"), HasSubstr("more than one GPU here"));
  EXPECT_THAT(error("all", "1,1"), HasSubstr("names one GPU twice"));
}

TEST_F(SelectDevices, TakesTheUniqueStartOfAUuid) {
  EXPECT_EQ(indexes("GPU-00000003"), (Indexes{3}));
  EXPECT_EQ(indexes("GPU-00000003,gpu-00000001-0000"), (Indexes{3, 1}));
  EXPECT_EQ(select("GPU-00000003")[0].uuid, probe_.present[3].uuid);
  EXPECT_THAT(error("GPU-0"), HasSubstr("\"GPU-0\" is the start of 4 GPUs' UUIDs"));
  EXPECT_THAT(error("GPU-abc"), HasSubstr("there is no GPU with the UUID GPU-abc"));
  EXPECT_THAT(error("GPU-00000003", "0"), HasSubstr("hidden by CUDA_VISIBLE_DEVICES"));
}

TEST_F(SelectDevices, PrefersAWholeUuidToALongerOneThatStartsWithIt) {
  probe_.present[0].uuid = "GPU-12";
  probe_.present[1].uuid = "GPU-123";
  EXPECT_EQ(indexes("GPU-12"), (Indexes{0}));
}

TEST_F(SelectDevices, PassesMigInstances) {
  EXPECT_EQ(select("MIG-1234")[0].uuid, "MIG-1234");
  EXPECT_EQ(select("all", "MIG-1234")[0].uuid, "MIG-1234");
  probe_.present[1].uuid = "MIG-77";
  EXPECT_EQ(indexes("MIG-77"), (Indexes{1}));
}

TEST_F(SelectDevices, RefusesWordsThatNameNoDevice) {
  EXPECT_THAT(error("4"), AllOf(HasSubstr("there is no GPU 4"), HasSubstr("0 NVIDIA H200")));
  EXPECT_THAT(error("0,0"), HasSubstr("names GPU 0 (NVIDIA H200) twice"));
  EXPECT_THAT(error("1,GPU-00000001"), HasSubstr("twice"));
  for (const char* spec :
       {"", "0,", "gpu", "0,cpu", "-1", "0-3", "cuda:0", "99999999999999999999"}) {
    EXPECT_THAT(error(spec), HasSubstr("--devices must be all, cpu, cpu:N, or a list")) << spec;
  }
  probe_ = fake_probe(0);
  EXPECT_THAT(error("gpu"), HasSubstr("--devices must be all, cpu or cpu:N on this machine"));
}

TEST_F(SelectDevices, NamesAGpuThatIsTooOld) {
  probe_.present[1] = fake_gpu(1, "Tesla P100-PCIE-16GB", 6, 0);
  for (const char* spec : {"all", "0,1", "1"}) {
    EXPECT_THAT(error(spec), AllOf(HasSubstr("GPU 1 (Tesla P100-PCIE-16GB) is too old"),
                                   HasSubstr("6.0"), HasSubstr("--devices 0,2,3")))
        << spec;
  }
  EXPECT_EQ(indexes("0,2"), (Indexes{0, 2}));
}

TEST_F(SelectDevices, TakesSm75AndRefusesSm70) {
  probe_ = fake_probe(1, "Tesla T4", 7, 5);
  EXPECT_EQ(select("all").size(), 1u);
  probe_ = fake_probe(1, "Tesla V100", 7, 0);
  EXPECT_THAT(error("all"), HasSubstr("| use --devices cpu"));
}

TEST_F(SelectDevices, NamesABrokenGpuOnlyWhereItIsAskedFor) {
  probe_.present[2].fault = "GPU is lost";
  EXPECT_THAT(error("all"), AllOf(HasSubstr("GPU 2 (NVIDIA H200) cannot be used: GPU is lost"),
                                  HasSubstr("--devices 0,1,3")));
  EXPECT_EQ(indexes("0,3"), (Indexes{0, 3}));
}

TEST_F(SelectDevices, RefusesADriverThatIsTooOldForTheBuild) {
  probe_.driver = "535.104.05";
  probe_.cuda = 12020;
  EXPECT_THAT(
      error("all"),
      AllOf(HasSubstr("NVIDIA driver 535.104.05 offers CUDA 12.2, but this build needs CUDA "
                      "13.0"),
            HasSubstr("580.65.06 or newer; or build"), HasSubstr("or use --devices cpu"),
            HasSubstr("--target torch-cuda-12 torch==2.11.0+cu126 nvidia-cuda-nvcc-cu12==12.6.77 "),
            HasSubstr("LOCKSTEP_TORCH=$PWD/torch-cuda-12/torch make build")));
  EXPECT_EQ(select("cpu").size(), 2u);
  probe_.cuda = 11040;  // for which there is no LibTorch that is new enough
  EXPECT_THAT(error("all"), HasSubstr("580.65.06 or newer; or use --devices cpu"));
  probe_.cuda = 12020;
  cuda_needed_ = 12000;
  EXPECT_EQ(select("all").size(), 4u);
  cuda_needed_ = 0;
  EXPECT_EQ(select("all").size(), 4u);
}

TEST_F(SelectDevices, DoesNotHideABrokenDriverBehindCpuRanks) {
  probe_ = fake_probe(0);
  probe_.absent = "the NVIDIA driver does not answer: Driver Not Loaded";
  present("dev/nvidia0");
  for (const char* spec : {"all", "0"}) {
    EXPECT_THAT(error(spec), AllOf(HasSubstr("/dev/nvidia0 exists"), HasSubstr("Driver Not Loaded"),
                                   HasSubstr("--devices cpu")))
        << spec;
  }
  EXPECT_EQ(select("cpu").size(), 2u);
}

TEST_F(SelectDevices, SeesAnNvidiaGpuOnThePciBus) {
  probe_ = fake_probe(0);
  present("sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n");
  present("sys/bus/pci/devices/0000:00:1f.0/class", "0x030000\n");
  present("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
  present("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");  // its sound device
  EXPECT_EQ(select("all").size(), 2u);
  present("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  present("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  EXPECT_THAT(error("all"), HasSubstr("PCI device 0000:01:00.0 is an NVIDIA GPU"));
}

TEST_F(SelectDevices, SaysThatThereIsNoGpu) {
  probe_ = fake_probe(0);
  EXPECT_THAT(error("0,1"), AllOf(HasSubstr("--devices 0,1 asks for GPUs, but there are none here"),
                                  HasSubstr("libnvidia-ml.so.1 is not installed")));
}

}  // namespace
}  // namespace lockstep
