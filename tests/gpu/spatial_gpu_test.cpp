// Spatial operators on the GPU: the layout that they keep, and that they repeat to the bit.
#include "fakes/spatial_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/spatial/spatial.h"
#include "training/evaluation/sliding_windows.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/conv_transpose3d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

using SpatialOnGpu = GpuTest;
using testing::channels_last_of, testing::expect_near, testing::FusedCase, testing::spatial_cases;
using testing::Tensors;

// The result, then the gradients; x in a channels-last layout, or contiguous. Each value of the
// result has a weight of its own, without which the gradient of a norm would vanish.
Tensors run_spatial(const testing::Function& function, const Tensors& inputs, at::ScalarType type,
                    bool channels_last = true) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    at::Tensor leaf = input.to(type);
    leaf = leaf.dim() > 3 && channels_last ? leaf.contiguous(channels_last_of(leaf)) : leaf.clone();
    leaves.push_back(leaf.detach().requires_grad_());
  }
  const at::Tensor out = function(leaves);
  const at::Tensor weights = at::arange(out.numel(), out.options().dtype(at::kFloat)).cos();
  out.to(at::kFloat).mul(weights.view(out.sizes())).square().sum().backward();
  Tensors all{out.detach()};
  for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

TEST_F(SpatialOnGpu, FormsInOrderEqualAtens) {
  for (const FusedCase& test : spatial_cases(at::TensorOptions().device(gpu().device()))) {
    const Tensors own = run_spatial(test.own, test.inputs, at::kFloat);
    // ATen's own is right for contiguous tensors.
    const Tensors plain = run_spatial(test.plain, test.inputs, at::kFloat, /*channels_last=*/false);
    for (std::size_t i = 0; i < own.size(); ++i) expect_near(own[i], plain[i], 1e-4, test.name);
  }
}

struct Layer {
  std::string name;
  std::int64_t dimensions;
  testing::Function function;
};

std::vector<Layer> layers(const at::TensorOptions& options) {
  const auto weight = [=](at::IntArrayRef sizes, const at::Tensor& x) {
    return at::ones(sizes, options).div(10).to(x.scalar_type());
  };
  return {
      {"conv2d", 2,
       [=](const Tensors& t) {
         return at::conv2d(t[0], weight({8, 6, 3, 3}, t[0]));
       }},
      {"conv3d", 3,
       [=](const Tensors& t) {
         return at::conv3d(t[0], weight({8, 6, 3, 3, 3}, t[0]));
       }},
      {"conv_transpose2d", 2,
       [=](const Tensors& t) {
         return at::conv_transpose2d(t[0], weight({6, 8, 2, 2}, t[0]), {}, 2);
       }},
      {"conv_transpose3d", 3,
       [=](const Tensors& t) {
         return at::conv_transpose3d(t[0], weight({6, 8, 2, 2, 2}, t[0]), {}, 2);
       }},
      {"group_norm 2d", 2, [](const Tensors& t) { return group_norm_layer(t[0], 2, {}, {}); }},
      {"group_norm 3d", 3, [](const Tensors& t) { return group_norm_layer(t[0], 2, {}, {}); }},
      {"instance_norm 3d", 3, [](const Tensors& t) { return instance_norm_layer(t[0], {}, {}); }},
      {"max_pool2d", 2, [](const Tensors& t) { return max_pool(t[0], 3, 2, 1); }},
      {"max_pool3d", 3, [](const Tensors& t) { return max_pool(t[0], 2); }},
      {"overlapping max_pool3d", 3, [](const Tensors& t) { return max_pool(t[0], 3, 2, 1); }},
      {"avg_pool2d", 2, [](const Tensors& t) { return average_pool(t[0], 2); }},
      {"avg_pool3d", 3, [](const Tensors& t) { return average_pool(t[0], 2); }},
      {"adaptive_avg_pool2d", 2, [](const Tensors& t) { return adaptive_average_pool(t[0], 3); }},
      {"adaptive_avg_pool3d", 3, [](const Tensors& t) { return adaptive_average_pool(t[0], 3); }},
      {"upsample_bilinear2d", 2,
       [](const Tensors& t) {
         return upsample_linear(t[0], {32, 24});
       }},
      {"upsample_trilinear3d", 3,
       [](const Tensors& t) {
         return upsample_linear(t[0], {32, 24, 16});
       }},
  };
}

TEST_F(SpatialOnGpu, RepeatToTheBitInDeterministicMode) {
  const auto options = at::TensorOptions().device(gpu().device());
  const Deterministic deterministic;
  for (const Layer& layer : layers(options))
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      const at::Tensor x = layer.dimensions == 2 ? at::randn({2, 6, 16, 12}, options)
                                                 : at::randn({2, 6, 16, 12, 8}, options);
      const Tensors first = run_spatial(layer.function, {x}, type);
      for (int i = 0; i < 3; ++i) {
        const Tensors again = run_spatial(layer.function, {x}, type);
        EXPECT_TRUE(again[0].equal(first[0])) << layer.name << " " << type;
        EXPECT_TRUE(again[1].equal(first[1])) << layer.name << " " << type;
      }
    }
}

// Where the result of ATen's operator is contiguous here, the table in docs/design/kernels.md says
// so.
TEST_F(SpatialOnGpu, KeepChannelsLastAsTheTableSays) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const Layer& layer : layers(options))
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      const at::Tensor x = layer.dimensions == 2 ? at::randn({2, 6, 16, 12}, options)
                                                 : at::randn({2, 6, 16, 12, 8}, options);
      const Tensors found = run_spatial(layer.function, {x}, type);
      EXPECT_TRUE(found[0].is_contiguous(channels_last_of(found[0]))) << layer.name << " " << type;
    }
}

TEST_F(SpatialOnGpu, SlidingWindowsEqualTheCpuToTheBitWhereverTheSlabsAre) {
  const at::Tensor input = at::randn({2, 20, 17, 13});
  const auto result = [&](at::Device device, at::Device slabs, std::int64_t batch) {
    const SlidingWindows windows({.input = {20, 17, 13},
                                  .window = {8, 6, 7},
                                  .batch = batch,
                                  .device = device,
                                  .slabs_on = slabs});
    std::vector<at::Tensor> pieces;
    windows.run([&](RowRange r) { return input.narrow(1, r.begin, r.end - r.begin); },
                [](const at::Tensor& x) { return x.mul(2).add(1); },
                [&](RowRange, const at::Tensor& values) { pieces.push_back(values.cpu()); });
    return at::cat(pieces, 1);
  };
  const at::Tensor cpu = result(at::kCPU, at::kCPU, 1);
  EXPECT_TRUE(result(gpu().device(), at::kCPU, 3).equal(cpu));
  EXPECT_TRUE(result(gpu().device(), gpu().device(), 5).equal(cpu));
}

}  // namespace
}  // namespace lockstep
