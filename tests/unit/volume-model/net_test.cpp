// The network: its parameters, its shape, and that it learns.
#include "recipes/volume/model/net.h"

#include "recipes/volume/model/loss.h"
#include "recipes/volume/model/patches.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::volume {
namespace {

constexpr NetShape tiny{.width = 4, .depth = 2};

std::int64_t elements(Net& net) {
  std::int64_t count = 0;
  for (const Parameter& parameter : net.parameters()) count += parameter.tensor.numel();
  return count;
}

at::Tensor image(std::int64_t rows, std::int64_t size) {
  return at::rand({rows, 1, size, size, size}).contiguous(at::MemoryFormat::ChannelsLast3d);
}

TEST(VolumeNet, HasAsManyParametersAsTheFormulaSays) {
  for (const NetShape& shape :
       {NetShape{}, NetShape{.channels = 3, .outputs = 4, .width = 6, .depth = 3},
        NetShape{.width = 8, .depth = 2, .attention = false},
        NetShape{.width = 8, .depth = 3, .deep_supervision = true}}) {
    Net net(shape, 1);
    EXPECT_EQ(elements(net), parameter_count(shape));
  }
}

TEST(VolumeNet, BeginsTheSameForTheSameSeed) {
  Net one(tiny, 3), same(tiny, 3), other(tiny, 4);
  EXPECT_TRUE(at::equal(one.parameters()[2].tensor, same.parameters()[2].tensor));
  EXPECT_FALSE(at::equal(one.parameters()[2].tensor, other.parameters()[2].tensor));
}

TEST(VolumeNet, GivesALogitPerVoxel) {
  const at::NoGradGuard no_gradients;
  StepContext context;
  context.training = false;
  const Net net({.outputs = 3, .width = 4, .depth = 2, .deep_supervision = true}, 1);
  const std::vector<at::Tensor> found = net.logits(image(2, 8), context);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sizes(), (at::IntArrayRef{2, 3, 8, 8, 8}));
}

TEST(VolumeNet, CoarserLevelsLearnToo) {
  StepContext context;
  context.no_dropout = true;
  context.counters = at::zeros({3}, at::kLong);
  const Net net(
      {.width = 4, .depth = 3, .dropout = 0, .decoder_dropout = 0, .deep_supervision = true}, 1);
  const std::vector<at::Tensor> found = net.logits(image(1, 16), context);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].sizes(), (at::IntArrayRef{1, 1, 8, 8, 8}));
  EXPECT_EQ(found[2].sizes(), (at::IntArrayRef{1, 1, 4, 4, 4}));
  EXPECT_EQ(coarser_labels(at::ones({1, 16, 16, 16}, at::kByte), 2).sizes(),
            (at::IntArrayRef{1, 4, 4, 4}));
}

// A patch with a ball and a sheet in noise, by Adam as it is in the books.
TEST(VolumeNet, OverfitsAPatch) {
  const std::int64_t size = 16;
  const at::Tensor axis = at::arange(size).to(at::kFloat).sub(8);
  const at::Tensor z = axis.view({size, 1, 1}), y = axis.view({1, size, 1}),
                   x = axis.view({1, 1, size});
  const at::Tensor ball = z.square().add(y.square()).add(x.square()).lt(16);
  const at::Tensor sheet = z.add(6).sub(y.mul(0.3)).abs().lt(0.8).logical_and(x.gt(-100));
  const at::Tensor labels = ball.logical_or(sheet).to(at::kByte).unsqueeze(0);
  const at::Tensor values =
      labels.to(at::kFloat).mul(0.4).add(at::rand({1, size, size, size}).mul(0.5)).unsqueeze(1);
  Net net({.width = 8, .depth = 2, .dropout = 0, .decoder_dropout = 0}, 1);
  StepContext context;
  const at::Tensor weight = at::ones({1});
  const std::vector<double> divide = segmentation_weights(labels, weight);
  std::vector<at::Tensor> parameters, first, second;
  for (const Parameter& parameter : net.parameters()) {
    parameters.push_back(parameter.tensor);
    first.push_back(at::zeros_like(parameter.tensor));
    second.push_back(at::zeros_like(parameter.tensor));
  }
  double dice = 0;
  for (int step = 1; step <= 150 && dice < 0.96; ++step) {
    const at::Tensor logits =
        net.logits(values.contiguous(at::MemoryFormat::ChannelsLast3d), context).front();
    const auto sums = segmentation_loss(logits, labels, weight, {});
    at::Tensor loss = sums[0].div(divide[0]);
    for (std::size_t i = 1; i < 3; ++i) loss = loss.add(sums[i].div(divide[i]));
    loss.backward();
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor gradient = parameters[i].grad();
      first[i].mul_(0.9).add_(gradient, 0.1);
      second[i].mul_(0.99).addcmul_(gradient, gradient, 0.01);
      const at::Tensor mean = first[i].div(1 - std::pow(0.9, step));
      const at::Tensor scale = second[i].div(1 - std::pow(0.99, step)).sqrt().add(1e-8);
      parameters[i].addcdiv_(mean, scale, -5e-3);
      parameters[i].mutable_grad().reset();
    }
    const at::Tensor found = logits.squeeze(1).gt(0), truth = labels.gt(0);
    const double both = found.logical_and(truth).sum().item<double>();
    dice = 2 * both / (found.sum().item<double>() + truth.sum().item<double>());
  }
  EXPECT_GT(dice, 0.95);
}

}  // namespace
}  // namespace lockstep::volume
