// CUDA's numbers of the GPUs.
#include "core/devices/gpus/cuda_order.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "checkout_paths.h"
#include "core/devices/gpus/cuda_driver.h"
#include "fakes/fake_probe.h"

namespace lockstep {
namespace {

using Ordinals = std::vector<std::optional<int>>;
constexpr std::nullopt_t none = std::nullopt;

AskCuda never() {
  return []() -> std::optional<std::vector<std::string>> {
    ADD_FAILURE() << "the driver was asked";
    return std::nullopt;
  };
}

AskCuda answers(std::vector<std::string> uuids) {
  return [uuids] { return std::optional(uuids); };
}

std::vector<GpuInfo> alike(int count) { return fake_probe(count).present; }

std::vector<GpuInfo> unlike() {
  return {fake_gpu(0, "Tesla T4", 7, 5, 15), fake_gpu(1, "NVIDIA A100-SXM4-80GB", 8, 0, 80)};
}

std::string bare(const GpuInfo& gpu) { return gpu.uuid.substr(4); }

TEST(CudaOrder, IsNotKnownWhereThereIsNobodyToAsk) {
  const CudaOrder order = cuda_order(unlike(), nullptr, nullptr, {});
  EXPECT_FALSE(order.known);
  EXPECT_EQ(order.ordinals, (Ordinals{none, none}));
}

TEST(CudaOrder, IsThatOfTheBusForGpusOfOneKind) {
  const CudaOrder order = cuda_order(alike(3), nullptr, nullptr, never());
  EXPECT_EQ(order.ordinals, (Ordinals{0, 1, 2}));
  EXPECT_TRUE(order.known);
  EXPECT_EQ(order.note, "");
}

TEST(CudaOrder, FollowsTheOrderInCudaVisibleDevices) {
  const CudaOrder order = cuda_order(alike(4), "2, 0", nullptr, never());
  EXPECT_EQ(order.ordinals, (Ordinals{1, none, 0, none}));
  EXPECT_EQ(order.note, "CUDA_VISIBLE_DEVICES=2, 0 hides 2 of 4 GPUs");
}

TEST(CudaOrder, TakesUuidsAndTheirStarts) {
  const std::vector<GpuInfo> gpus = alike(2);
  EXPECT_EQ(cuda_order(gpus, "GPU-00000001", nullptr, never()).ordinals, (Ordinals{none, 0}));
  EXPECT_EQ(cuda_order(unlike(), "GPU-00000001,GPU-00000000", nullptr, never()).ordinals,
            (Ordinals{1, 0}));
}

TEST(CudaOrder, StopsAtAWordThatNamesNoGpu) {
  const CudaOrder order = cuda_order(alike(3), "1,7,0", nullptr, never());
  EXPECT_EQ(order.ordinals, (Ordinals{none, 0, none}));
  EXPECT_EQ(order.note,
            "CUDA_VISIBLE_DEVICES=1,7,0: there is no GPU \"7\" here, and CUDA shows nothing from "
            "there on");
  EXPECT_EQ(cuda_order(alike(3), "1,-1,0", nullptr, never()).ordinals, (Ordinals{none, 0, none}));
  EXPECT_EQ(cuda_order(alike(3), "GPU-0000000", nullptr, never()).ordinals,
            (Ordinals{none, none, none}));  // the start of three
}

TEST(CudaOrder, ShowsNothingWhereOneIsNamedTwiceOrAllAreHidden) {
  const CudaOrder twice = cuda_order(alike(2), "1,0,1", nullptr, never());
  EXPECT_EQ(twice.ordinals, (Ordinals{none, none}));
  EXPECT_EQ(twice.note, "CUDA_VISIBLE_DEVICES=1,0,1 names one GPU twice, so CUDA shows none");
  const CudaOrder hidden = cuda_order(alike(1), "", nullptr, never());
  EXPECT_EQ(hidden.ordinals, (Ordinals{none}));
  EXPECT_EQ(hidden.note, "CUDA_VISIBLE_DEVICES= hides 1 of 1 GPU");
}

TEST(CudaOrder, OfUnlikeGpusIsTheDriversUnlessItIsThatOfTheBus) {
  const std::vector<GpuInfo> gpus = unlike();
  EXPECT_EQ(cuda_order(gpus, nullptr, "PCI_BUS_ID", never()).ordinals, (Ordinals{0, 1}));
  const CudaOrder order =
      cuda_order(gpus, nullptr, nullptr, answers({bare(gpus[1]), bare(gpus[0])}));
  EXPECT_EQ(order.ordinals, (Ordinals{1, 0}));
  EXPECT_EQ(order.note,
            "GPU 0 of nvidia-smi is cuda:1: CUDA counts the fastest first; "
            "CUDA_DEVICE_ORDER=PCI_BUS_ID makes both count alike");
  EXPECT_EQ(cuda_order(gpus, "0", nullptr, answers({bare(gpus[1])})).ordinals, (Ordinals{none, 0}));
}

TEST(CudaOrder, OfMigInstancesIsTheDrivers) {
  std::vector<GpuInfo> gpus{fake_gpu(0), fake_gpu(0)};
  gpus[0].uuid = "MIG-0a";
  gpus[1].uuid = "MIG-0b";
  const CudaOrder order = cuda_order(gpus, nullptr, nullptr, answers({"0a"}));
  EXPECT_EQ(order.ordinals, (Ordinals{0, none}));
  EXPECT_EQ(order.note, "");
}

TEST(CudaOrder, IsNotGuessedWhereTheDriverDoesNotAnswer) {
  std::vector<GpuInfo> gpus = alike(2);
  gpus[1].fault = "GPU is lost";
  const CudaOrder order = cuda_order(gpus, nullptr, nullptr, [] { return std::nullopt; });
  EXPECT_EQ(order.ordinals, (Ordinals{none, none}));
  EXPECT_FALSE(order.known);
  EXPECT_NE(order.note.find("libcuda.so.1 does not answer"), std::string::npos);
}

class CudaDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("LOCKSTEP_CUDA_DRIVER", LOCKSTEP_BUILD_DIR "/tests/libfake-cuda-driver.so", 1);
  }
  void TearDown() override {
    unsetenv("LOCKSTEP_CUDA_DRIVER");
    unsetenv("FAKE_CUDA");
  }
};

TEST_F(CudaDriver, EnumeratesUuids) {
  const std::string one = "01234567-89ab-cdef-0123-456789abcdef",
                    two = "ffffffff-0000-1111-2222-333333333333";
  setenv("FAKE_CUDA", (one + "," + two).c_str(), 1);
  EXPECT_EQ(cuda_device_uuids(), (std::vector{one, two}));
}

TEST_F(CudaDriver, TellsNoGpuFromNoAnswer) {
  setenv("FAKE_CUDA", "", 1);
  EXPECT_EQ(cuda_device_uuids(), std::vector<std::string>{});
  setenv("FAKE_CUDA", "fail", 1);
  EXPECT_EQ(cuda_device_uuids(), std::nullopt);
  setenv("LOCKSTEP_CUDA_DRIVER", "libc.so.6", 1);
  EXPECT_EQ(cuda_device_uuids(), std::nullopt);
  setenv("LOCKSTEP_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  EXPECT_EQ(cuda_device_uuids(), std::nullopt);
}

}  // namespace
}  // namespace lockstep
