// Fused norm, attention gates and the loss of masks on the GPU: their definitions in f64, forward
// and backward, in every type and layout; repeats to the bit, and graphs.
#include "fakes/gate_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <limits>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using GatesOnGpu = GpuTest;
using testing::channels_last_of, testing::expect_near, testing::FusedCase, testing::gate_cases;
using testing::tolerance, testing::types, testing::Tensors;

// Inputs rounded to a type, as leaves of another, in a layout.
Tensors leaves_of(const Tensors& inputs, at::ScalarType rounded, at::ScalarType type, bool last) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    at::Tensor leaf = input.to(rounded).to(type);
    leaf = last && leaf.dim() > 3 ? leaf.contiguous(channels_last_of(leaf)) : leaf.clone();
    leaves.push_back(leaf.detach().requires_grad_());
  }
  return leaves;
}

// The result, then the gradients of a sum in which each value has a weight of its own.
Tensors run_gate(const testing::Function& function, const Tensors& leaves) {
  const at::Tensor out = function(leaves);
  const at::Tensor weights =
      at::arange(out.numel(), out.options().dtype(at::kDouble)).cos().view(out.sizes());
  Tensors all{out.detach()};
  // Of the type of the leaves, as a step hands it on.
  const Tensors gradients =
      torch::autograd::grad({out}, leaves, {weights.to(at::kBFloat16).to(out.scalar_type())});
  all.insert(all.end(), gradients.begin(), gradients.end());
  return all;
}

TEST_F(GatesOnGpu, AreTheirDefinitionsInEveryTypeAndLayout) {
  for (const FusedCase& test : gate_cases(at::TensorOptions().device(gpu().device())))
    for (const at::ScalarType type : types)
      for (const bool last : {false, true}) {
        const Tensors own = run_gate(test.own, leaves_of(test.inputs, type, type, last));
        const Tensors exact = run_gate(test.plain, leaves_of(test.inputs, type, at::kDouble, last));
        for (std::size_t i = 0; i < own.size(); ++i)
          // Sums that cancel lose digits in f32.
          expect_near(own[i], exact[i], type == at::kFloat ? 1e-4 : 4 * tolerance(type),
                      test.name + " #" + std::to_string(i) + (last ? " channels-last " : " ") +
                          c10::toString(type));
        if (!last || test.inputs[0].dim() < 4 || own[0].dim() < 4) continue;
        EXPECT_TRUE(own[0].is_contiguous(channels_last_of(own[0]))) << test.name;
        EXPECT_TRUE(own[1].is_contiguous(channels_last_of(own[1]))) << test.name;
      }
}

TEST_F(GatesOnGpu, RepeatToTheBit) {
  for (const FusedCase& test : gate_cases(at::TensorOptions().device(gpu().device())))
    for (const at::ScalarType type : types) {
      const Tensors leaves = leaves_of(test.inputs, type, type, /*last=*/true);
      const Tensors first = run_gate(test.own, leaves);
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Tensors again = run_gate(test.own, leaves);
        for (std::size_t i = 0; i < first.size(); ++i)
          EXPECT_TRUE(again[i].equal(first[i])) << test.name << " #" << i;
      }
    }
}

TEST_F(GatesOnGpu, HaveSecondDerivatives) {
  for (const FusedCase& test : gate_cases(at::TensorOptions().device(gpu().device())))
    for (const bool last : {false, true}) {
      const Tensors own = testing::leaves_of(test.inputs, last);
      const Tensors plain = testing::leaves_of(test.inputs, last);
      testing::with_penalty(test.own, own).backward();
      testing::with_penalty(test.plain, plain).backward();
      for (std::size_t i = 0; i < own.size(); ++i)
        expect_near(own[i].grad(), plain[i].grad(), 1e-2, test.name + " #" + std::to_string(i));
    }
}

TEST_F(GatesOnGpu, TakeTensorsThatLieAnyhow) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor wide = at::randn({2, 17, 6, 5, 8}, options);
  const at::Tensor skip = at::randn({2, 16, 6, 5, 8}, options);
  const at::Tensor gate = at::rand({2, 16}, options), weight = at::randn({1, 2, 5, 5, 5}, options);
  // A slice that is not aligned, and a transposed one.
  for (const at::Tensor& x : {wide.narrow(1, 1, 16),
                              wide.narrow(1, 0, 16).transpose(2, 3).contiguous().transpose(2, 3)}) {
    const at::Tensor dense = x.contiguous().to(at::kDouble);
    expect_near(instance_norm_act(x, gate, skip, true),
                instance_norm_act_reference(dense, gate, skip.to(at::kDouble), true), 1e-5, "norm");
    expect_near(mean_and_max_over_voxels(x).first, dense.mean({2, 3, 4}), 1e-5, "mean");
    expect_near(spatial_gate(x, gate, weight),
                spatial_gate_reference(dense, gate, weight.to(at::kDouble)), 1e-5, "gate");
  }
}

// 262,144 elements with a mean a thousand times their deviation, and one that is far out.
TEST_F(GatesOnGpu, TheVarianceOfMuchThatLiesFarFromZeroKeepsItsDigits) {
  const auto options = at::TensorOptions().device(gpu().device());
  at::Tensor x = at::randn({2, 8, 64, 64, 64}, options) + 1000;
  x[0][0][0][0][0] = 3000;
  x = x.contiguous(at::MemoryFormat::ChannelsLast3d);
  expect_near(instance_norm_act(x, {}, {}, false),
              instance_norm_act_reference(x.to(at::kDouble), {}, {}, false), 1e-4, "far out");
}

TEST_F(GatesOnGpu, ANanStaysOne) {
  const auto options = at::TensorOptions().device(gpu().device());
  at::Tensor x = at::randn({2, 16, 4, 6}, options).contiguous(at::MemoryFormat::ChannelsLast);
  x[0][1][2][3] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor y = instance_norm_act(x, {}, x, true);
  EXPECT_TRUE(y[0][1].isnan().all().item<bool>());
  EXPECT_EQ(y.isnan().sum().item<std::int64_t>(), 24);
  const auto [mean, largest] = mean_and_max_over_voxels(x);
  EXPECT_TRUE(mean[0][1].isnan().item<bool>());
  EXPECT_TRUE(largest[0][1].isnan().item<bool>());
  EXPECT_EQ(largest.isnan().sum().item<std::int64_t>(), 1);
  const at::Tensor gated =
      spatial_gate(x, at::ones({2, 16}, options), at::ones({1, 2, 3, 3}, options));
  EXPECT_TRUE(gated[0].select(1, 2).select(1, 3).isnan().all().item<bool>());
  EXPECT_FALSE(gated[1].isnan().any().item<bool>());
}

// Equal elements share the gradient of the largest, as ATen's amax does.
TEST_F(GatesOnGpu, ThoseThatTieShareTheGradient) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const bool last : {false, true}) {
    at::Tensor x = at::randint(-2, 3, {2, 16, 9, 8}, options.dtype(at::kFloat));
    if (last) x = x.contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor own = x.clone().requires_grad_(), plain = x.clone().requires_grad_();
    const at::Tensor up = at::randn({2, 16}, options);
    mean_and_max_over_voxels(own).second.mul(up).sum().backward();
    mean_and_max_over_voxels_reference(plain).second.mul(up).sum().backward();
    expect_near(own.grad(), plain.grad(), 1e-6, "over places");
    const at::Tensor weight = at::randn({1, 2, 3, 3}, options), gate = at::ones({2, 16}, options);
    own.mutable_grad().zero_();
    plain.mutable_grad().zero_();
    spatial_gate(own, gate, weight).square().sum().backward();
    spatial_gate_reference(plain, gate, weight).square().sum().backward();
    expect_near(own.grad(), plain.grad(), 1e-5, "over channels");
  }
}

TEST_F(GatesOnGpu, CanBeRecordedInAGraph) {
  for (const FusedCase& test : gate_cases(at::TensorOptions().device(gpu().device()))) {
    const Tensors leaves = leaves_of(test.inputs, at::kHalf, at::kHalf, /*last=*/true);
    const Tensors before = run_gate(test.own, leaves);  // makes what is made once
    Tensors recorded;
    const auto graph = gpu().capture([&] { recorded = run_gate(test.own, leaves); });
    ASSERT_NE(graph, nullptr) << test.name;
    {
      const at::AutoGradMode in_place(false);
      for (const at::Tensor& leaf : leaves) leaf.mul_(0.5).add_(0.25);
    }
    graph->replay();
    const Tensors expected = run_gate(test.own, leaves);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(recorded[i].equal(expected[i])) << test.name << " #" << i;
  }
}

}  // namespace
}  // namespace lockstep
