// The example's kernels on a GPU: against f64 on the CPU, to the bit again, and inside of a graph.
#include "../../../examples/own_kernel/rbf.h"

#include "checkout_paths.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "training/recipe/plugin.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include <filesystem>

namespace lockstep {
namespace {

using own_kernel::rbf;
using testing::expect_near;
using Tensors = std::vector<at::Tensor>;

class RbfOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const std::filesystem::path built = LOCKSTEP_BUILD_DIR "/tests";
    if (!std::filesystem::exists(built / "libown-kernel-cuda.so"))
      GTEST_SKIP() << "built without a compiler of CUDA kernels";
    load_plugin(built / "libown-kernel.so");
    load_plugin_kernels();
  }
  // x [rows, width], centres [count, width], scales [count].
  static Tensors inputs(std::int64_t rows, std::int64_t count, std::int64_t width) {
    return {at::rand({rows, width}), at::rand({count, width}), at::rand({count}) + 0.5};
  }
  static Tensors leaves(const Tensors& from, at::TensorOptions options) {
    Tensors all;
    for (const at::Tensor& each : from) all.push_back(each.to(options).detach().requires_grad_());
    return all;
  }
  static Tensors gradients(const Tensors& in, const at::Tensor& weight) {
    const at::Tensor out = rbf(in[0], in[1], in[2]);
    return torch::autograd::grad({out}, in, {weight.to(out.options())});
  }
};

TEST_F(RbfOnGpu, EqualsTheCpuForwardAndBackward) {
  for (const at::ScalarType type : testing::types)
    for (const auto& [rows, count, width] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {7, 5, 3}, {300, 64, 2}, {1000, 33, 17}}) {
      const std::string what = std::to_string(rows) + " rows in " + c10::toString(type);
      Tensors rounded;
      for (const at::Tensor& each : inputs(rows, count, width)) rounded.push_back(each.to(type));
      const at::Tensor weight = at::randn({rows, count}).to(type);
      const Tensors here = leaves(rounded, at::TensorOptions(gpu().device()));
      const Tensors exact = leaves(rounded, at::TensorOptions(at::kDouble));
      expect_near(rbf(here[0], here[1], here[2]).cpu(), rbf(exact[0], exact[1], exact[2]),
                  testing::tolerance(type), what);
      const Tensors these = gradients(here, weight), those = gradients(exact, weight);
      for (std::size_t i = 0; i < 3; ++i)
        expect_near(these[i].cpu(), those[i], testing::tolerance(type) * 2,
                    what + ", gradient " + std::to_string(i));
    }
}

TEST_F(RbfOnGpu, TakesNoRowsAndViews) {
  const Tensors none = leaves(inputs(0, 4, 2), at::TensorOptions(gpu().device()));
  for (const at::Tensor& gradient : gradients(none, at::zeros({0, 4})))
    EXPECT_EQ(gradient.abs().sum().item<double>(), 0);
  const Tensors in = inputs(8, 5, 3);
  const at::Tensor across = in[0].t().contiguous().to(gpu().device()).t();
  const at::Tensor out = rbf(across, in[1].to(gpu().device()), in[2].to(gpu().device()));
  expect_near(out.cpu(), rbf(in[0], in[1], in[2]), 2e-6, "of a view");
}

TEST_F(RbfOnGpu, GivesTheSameBitsAgain) {
  const Deterministic deterministic;
  const Tensors in = leaves(inputs(5000, 64, 2), at::TensorOptions(gpu().device()));
  const at::Tensor weight = at::randn({5000, 64});
  const Tensors first = gradients(in, weight);
  for (int again = 0; again < 5; ++again) {
    const Tensors others = gradients(in, weight);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(first[i].equal(others[i])) << i;
  }
}

TEST_F(RbfOnGpu, InAGraphFollowsItsInputs) {
  const at::NoGradGuard no_grad;
  Tensors in;
  for (const at::Tensor& each : inputs(100, 10, 2)) in.push_back(each.to(gpu().device()));
  at::Tensor out = rbf(in[0], in[1], in[2]);
  const auto graph = gpu().capture([&] { out = rbf(in[0], in[1], in[2]); });
  for (int replay = 0; replay < 3; ++replay) {
    const Tensors next = inputs(100, 10, 2);
    for (std::size_t i = 0; i < 3; ++i) in[i].copy_(next[i]);
    graph->replay();
    expect_near(out.cpu(), rbf(next[0], next[1], next[2]), 2e-6, "replay");
  }
}

TEST_F(RbfOnGpu, RefusesWhatDoesNotFit) {
  const Tensors in = inputs(4, 3, 2);
  const auto on_gpu = [&](const at::Tensor& tensor) { return tensor.to(gpu().device()); };
  EXPECT_THROW(rbf(on_gpu(in[0]), on_gpu(in[1]), on_gpu(at::rand({4}))), c10::Error);
  EXPECT_THROW(rbf(on_gpu(in[0]), on_gpu(in[1]).to(at::kHalf), on_gpu(in[2])), c10::Error);
}

}  // namespace
}  // namespace lockstep
