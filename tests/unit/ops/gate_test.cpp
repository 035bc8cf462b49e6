// Fused norm, attention gates and the loss of masks: their definitions in f64, layouts, second
// derivatives, and what they refuse.
#include "fakes/gate_cases.h"

#include "fakes/error_of.h"
#include "fakes/tenths.h"

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <limits>

namespace lockstep {
namespace {

using testing::channels_last_of, testing::FusedCase, testing::gate_cases, testing::Tensors;

// The result, then the gradients of a sum in which each value has a weight of its own.
Tensors run_gate(const testing::Function& function, const Tensors& inputs, bool last,
                 at::ScalarType type) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    at::Tensor leaf = input.to(type);
    leaf = last && leaf.dim() > 3 ? leaf.contiguous(channels_last_of(leaf)) : leaf.clone();
    leaves.push_back(leaf.detach().requires_grad_());
  }
  const at::Tensor out = function(leaves);
  const at::Tensor weights = at::arange(out.numel(), out.options().dtype(at::kDouble)).cos();
  out.to(at::kDouble).mul(weights.view(out.sizes())).sum().backward();
  Tensors all{out.detach()};
  for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

TEST(Gates, AreTheirDefinitionsForwardAndBackwardInEitherLayout) {
  // Of other draws one in ten or so has an element that a ReLU passes in f64 alone, or a mean at
  // which ATen's sums of squares in f32 lose the variance's digits.
  at::manual_seed(20);
  std::size_t number = 0;
  for (const FusedCase& test : gate_cases()) {
    if (!testing::has_turn_twice(number++)) continue;
    for (const bool last : {false, true})
      for (const auto type : {at::kDouble, at::kFloat}) {
        const Tensors own = run_gate(test.own, test.inputs, last, type);
        const Tensors plain = run_gate(test.plain, test.inputs, last, at::kDouble);
        const double tolerance = type == at::kDouble ? 1e-7 : 2e-4;
        for (std::size_t i = 0; i < own.size(); ++i) {
          EXPECT_EQ(own[i].sizes(), plain[i].sizes()) << test.name;
          EXPECT_TRUE(at::allclose(own[i].to(at::kDouble), plain[i], tolerance, tolerance))
              << test.name << " #" << i << " " << last << " " << type;
        }
      }
  }
}

TEST(Gates, KeepLayoutAndType) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x =
        at::randn({2, 6, 4, 3, 5}).to(type).contiguous(at::MemoryFormat::ChannelsLast3d);
    const at::Tensor weight = at::randn({1, 2, 3, 3, 3}).to(type);
    const auto [mean, largest] = mean_and_max_over_voxels(x);
    EXPECT_EQ(mean.scalar_type(), type);
    EXPECT_EQ(largest.scalar_type(), type);
    for (const at::Tensor& y : {instance_norm_act(x, at::ones({2, 6}), x, true),
                                spatial_gate(x, at::ones({2, 6}).to(type), weight)}) {
      EXPECT_EQ(y.scalar_type(), type);
      EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast3d));
    }
    for (const at::Tensor& sum :
         mask_loss(x.narrow(1, 0, 1), at::ones({2, 4, 3, 5}, at::kByte), at::ones({2}))) {
      EXPECT_EQ(sum.scalar_type(), at::kFloat);
      EXPECT_EQ(sum.dim(), 0);
    }
  }
}

TEST(Gates, HaveSecondDerivatives) {
  std::size_t number = 0;
  for (const FusedCase& test : gate_cases()) {
    if (!testing::has_turn_twice(number++)) continue;
    for (const bool last : {false, true}) {
      // Sums of second derivatives cancel: f32 has too few digits for them.
      Tensors wide;
      for (const at::Tensor& input : test.inputs) wide.push_back(input.to(at::kDouble));
      const Tensors own = testing::leaves_of(wide, last), plain = testing::leaves_of(wide, last);
      testing::with_penalty(test.own, own).backward();
      testing::with_penalty(test.plain, plain).backward();
      for (std::size_t i = 0; i < own.size(); ++i)
        EXPECT_TRUE(at::allclose(own[i].grad(), plain[i].grad(), 1e-6, 1e-6))
            << test.name << " #" << i << " " << last;
    }
  }
}

TEST(Gates, ANanStaysOneThroughTheNormsRelu) {
  at::Tensor x = at::randn({1, 2, 3, 4});
  x[0][1][2][3] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor y = instance_norm_act(x, {}, {}, true);
  EXPECT_TRUE(y[0][1].isnan().all().item<bool>());
  EXPECT_FALSE(y[0][0].isnan().any().item<bool>());
}

TEST(MaskLoss, PlacesThatDoNotCountHaveNoGradientWhateverTheyHold) {
  at::Tensor logits = at::randn({2, 1, 4, 4});
  at::Tensor target = at::randint(2, {2, 4, 4}, at::kByte);
  target[0][1][2] = 2;
  target[1].fill_(2);
  const auto of = [&](double value) {
    at::Tensor leaf = logits.clone();
    leaf[0][0][1][2] = value;
    leaf[1].fill_(value);
    leaf.requires_grad_();
    const auto sums = mask_loss(leaf, target, at::ones({2}), {.ignore = 2});
    (sums[0] + sums[1] + sums[2]).backward();
    return std::pair(at::stack({sums[0].detach(), sums[1].detach(), sums[2].detach()}),
                     leaf.grad());
  };
  const auto [sums, gradient] = of(0);
  const auto [same_sums, same_gradient] = of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(sums.equal(same_sums));
  EXPECT_TRUE(gradient.equal(same_gradient));
  EXPECT_EQ(gradient[0][0][1][2].item<double>(), 0);
  EXPECT_TRUE(gradient[1].eq(0).all().item<bool>());
  EXPECT_GT(gradient[0].abs().sum().item<double>(), 0);
}

TEST(MaskLoss, IsFiniteForExtremeLogits) {
  for (const float value : {-1e4F, 1e4F}) {
    at::Tensor logits = at::full({1, 1, 2, 2}, value).requires_grad_();
    at::Tensor target = at::ones({1, 2, 2}, at::kByte);
    target[0][0][0] = 0;
    const auto sums = mask_loss(logits, target, at::ones({1}));
    EXPECT_NEAR(sums[2].item<double>(), value > 0 ? 1e4 : 3e4, 1);
    (sums[0] + sums[1] + sums[2]).backward();
    EXPECT_TRUE(logits.grad().isfinite().all().item<bool>());
  }
}

TEST(Gates, RefuseShapesAndTypesByName) {
  const at::Tensor x = at::randn({2, 6, 4, 4}), gate = at::ones({2, 6});
  const at::Tensor weight = at::randn({1, 2, 3, 3});
  const auto says = [](const auto& action, const std::string& part) {
    const std::string error = error_of(action);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  says([&] { instance_norm_act(x[0], {}, {}, true); }, "wants floating [B, C, H, W]");
  says(
      [&] {
        instance_norm_act(at::randn({2, 6, 1, 1}), {}, {}, true);
      },
      "one element per row and channel");
  says([&] { instance_norm_act(x, at::ones({6}), {}, true); }, "channel_scale of f32 [2, 6]");
  says([&] { instance_norm_act(x, {}, x.to(at::kHalf), true); }, "skip as x, [2, 6, 4, 4]");
  says([&] { mean_and_max_over_voxels(x[0]); }, "mean_and_max_over_voxels wants floating");
  says([&] { spatial_gate(x, gate[0], weight); }, "a gate per channel of [2, 6]");
  says([&] { spatial_gate(x, gate, at::randn({1, 2, 2, 2})); }, "1, 3, 5 or 7");
  says([&] { spatial_gate(x, gate, at::randn({1, 2, 3, 5})); }, "equal sizes");
  says([&] { spatial_gate(x, gate, at::randn({1, 2, 9, 9})); }, "1, 3, 5 or 7");
  const at::Tensor target = at::ones({2, 4, 4}, at::kByte), rows = at::ones({2});
  const at::Tensor logits = x.narrow(1, 0, 1);
  says([&] { mask_loss(x, target, rows); }, "logits of [B, 1, …]");
  says([&] { mask_loss(logits, target.to(at::kLong), rows); }, "target of u8 [2, 4, 4]");
  says([&] { mask_loss(logits, target, at::ones({3})); }, "weight per row of f32 [2]");
  says([&] { mask_loss(logits, target, rows, {.ignore = 300}); }, "0 to 255");
  says([&] { mask_loss(logits, target, rows, {.focal_gamma = -1}); }, "focal_gamma");
}

}  // namespace
}  // namespace lockstep
