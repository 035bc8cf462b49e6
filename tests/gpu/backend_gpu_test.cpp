#include "gpu/gpu_fixture.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <regex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <thread>

namespace lockstep {
namespace {

using CudaBackendTest = GpuTest;

at::Tensor numbers(at::Device device, std::int64_t count, double value) {
  return at::full({count}, value, at::TensorOptions().device(device));
}

TEST_F(CudaBackendTest, DescribesDeviceLibraryAndDriver) {
  const std::regex form(R"(.+, sm_\d+, NCCL \d+\.\d+\.\d+, driver for CUDA \d+\.\d.*)");
  EXPECT_TRUE(std::regex_match(gpu().description(), form)) << gpu().description();
  EXPECT_EQ(gpu().device(), at::Device(at::kCUDA, 0));
}

TEST_F(CudaBackendTest, MemoryFollowsWhatIsAllocated) {
  constexpr std::int64_t bytes = 64 << 20;
  gpu().release_cached_memory();
  const MemoryUse before = gpu().memory();
  {
    const at::Tensor held =
        at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(gpu().device()));
    const MemoryUse during = gpu().memory();
    EXPECT_EQ(during.allocated_bytes, before.allocated_bytes + bytes);
    EXPECT_GE(during.reserved_bytes, during.allocated_bytes);
    EXPECT_GE(during.peak_bytes, during.allocated_bytes);
  }
  const MemoryUse after = gpu().memory();
  EXPECT_EQ(after.allocated_bytes, before.allocated_bytes);
  EXPECT_GE(after.peak_bytes, before.allocated_bytes + bytes);
  EXPECT_GE(after.reserved_bytes, before.reserved_bytes + bytes);
  gpu().release_cached_memory();
  EXPECT_LE(gpu().memory().reserved_bytes, before.reserved_bytes);
}

// The default stream waits for no other of ATen's streams, so a tensor that is used on the training
// stream of two threads in turn is only right if both threads have the same stream.
TEST_F(CudaBackendTest, AllThreadsShareOneTrainingStream) {
  at::Tensor x = at::ones({1 << 22}, at::TensorOptions().device(gpu().device()));
  for (int i = 0; i < 20; ++i) {
    x.add_(1);
    std::thread other([&] {
      gpu().use_training_stream();
      x.mul_(2);
    });
    other.join();
    x.sub_(2);  // x = 2 (x + 1) - 2 = 2 x
  }
  EXPECT_TRUE(x.eq(1 << 20).all().item<bool>());
}

TEST_F(CudaBackendTest, BackwardRunsOnTheTrainingStream) {
  at::Tensor w = at::ones({1 << 20}, at::TensorOptions().device(gpu().device())).requires_grad_();
  for (int i = 0; i < 10; ++i) {
    w.mul(3).sum().backward();
    w.mutable_grad().mul_(2);
  }
  // g = 2 (g + 3), ten times from 0: 6 (2^10 - 1).
  EXPECT_TRUE(w.grad().eq(6 * 1023).all().item<bool>());
}

TEST_F(CudaBackendTest, AGroupOfOneRankReducesAndShutsDown) {
  auto group =
      gpu().make_group(c10::make_intrusive<c10d::HashStore>(), World{}, std::chrono::seconds(60));
  for (int round = 0; round < 3; ++round) {
    std::vector<at::Tensor> tensors{numbers(gpu().device(), 1000, 2.5)};
    group->allreduce(tensors)->wait();
    EXPECT_TRUE(tensors[0].eq(2.5).all().item<bool>());
  }
  group->shutdown();
}

TEST_F(CudaBackendTest, AGroupCanBeAborted) {
  auto group =
      gpu().make_group(c10::make_intrusive<c10d::HashStore>(), World{}, std::chrono::seconds(60));
  std::vector<at::Tensor> tensors{numbers(gpu().device(), 10, 1)};
  group->allreduce(tensors)->wait();
  gpu().synchronize();
  group->abort();
}

}  // namespace
}  // namespace lockstep
