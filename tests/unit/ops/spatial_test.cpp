// Our forms of spatial operators against ATen's, and what ATen does on the CPU with channels-last
// layouts: docs/design/kernels.md has both in a table.
#include "ops/spatial/spatial.h"

#include "fakes/error_of.h"
#include "fakes/spatial_cases.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/conv_transpose3d.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>

namespace lockstep {
namespace {

using testing::channels_last_of, testing::FusedCase, testing::spatial_cases, testing::Tensors;

// Of inputs in this layout and type: the result, then the gradients of its weighted sum.
Tensors run_spatial(const testing::Function& function, const Tensors& inputs, bool last,
                    at::ScalarType type) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    at::Tensor leaf = input.to(type);
    leaf = last && leaf.dim() > 3 ? leaf.contiguous(channels_last_of(leaf)) : leaf.clone();
    leaves.push_back(leaf.detach().requires_grad_());
  }
  const at::Tensor out = function(leaves);
  out.to(at::kFloat).square().sum().backward();
  Tensors all{out.detach()};
  for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

TEST(SpatialInOrder, IsAtensOperatorForwardAndBackwardInEitherLayout) {
  for (const FusedCase& test : spatial_cases())
    for (const bool last : {false, true})
      for (const auto type : {at::kFloat, at::kBFloat16}) {
        const Tensors own = run_spatial(test.own, test.inputs, last, type);
        const Tensors plain = run_spatial(test.plain, test.inputs, last, at::kFloat);
        const double tolerance = type == at::kFloat ? 1e-4 : 0.05;
        for (std::size_t i = 0; i < own.size(); ++i) {
          EXPECT_EQ(own[i].scalar_type(), type) << test.name;
          EXPECT_EQ(own[i].sizes(), plain[i].sizes()) << test.name;
          // In bf16 another element of a window may be the largest, and roundings add up.
          if (type != at::kFloat && (test.name.starts_with("max") || i > 0)) continue;
          EXPECT_TRUE(at::allclose(own[i].to(at::kFloat), plain[i], tolerance, tolerance))
              << test.name << " #" << i << " " << last;
        }
        if (!last) continue;
        EXPECT_TRUE(own[0].is_contiguous(channels_last_of(own[0]))) << test.name;
        EXPECT_TRUE(own[1].is_contiguous(channels_last_of(own[1]))) << test.name << " gradient";
      }
}

TEST(SpatialInOrder, HasAtensSecondDerivative) {
  for (const FusedCase& test : spatial_cases())
    for (const bool last : {false, true}) {
      const auto penalised = [&](const testing::Function& function) {
        Tensors leaves;
        for (const at::Tensor& input : test.inputs) {
          at::Tensor leaf = input.clone();
          if (last && leaf.dim() > 3) leaf = leaf.contiguous(channels_last_of(leaf));
          leaves.push_back(leaf.detach().requires_grad_());
        }
        testing::with_penalty(function, leaves).backward();
        return leaves;
      };
      const Tensors own = penalised(test.own), plain = penalised(test.plain);
      for (std::size_t i = 0; i < own.size(); ++i)
        EXPECT_TRUE(at::allclose(own[i].grad(), plain[i].grad(), 1e-2, 1e-2))
            << test.name << " #" << i;
    }
}

// What a recipe calls is ATen's operator on the CPU.
TEST(Spatial, IsAtensOperatorOnTheCpu) {
  const at::Tensor x = at::randn({2, 6, 8, 6, 4}), w = at::randn({6}), b = at::randn({6});
  EXPECT_TRUE(
      upsample_linear(x, {16, 12, 8}).equal(at::upsample_trilinear3d(x, {16, 12, 8}, false)));
  EXPECT_TRUE(max_pool(x, 2).equal(at::max_pool3d(x, {2, 2, 2})));
  EXPECT_TRUE(max_pool(x, 3, 2, 1).equal(at::max_pool3d(x, {3, 3, 3}, {2, 2, 2}, {1, 1, 1})));
  EXPECT_TRUE(average_pool(x[0], 2).equal(at::avg_pool2d(x[0], {2, 2})));
  EXPECT_TRUE(adaptive_average_pool(x, 1).equal(at::adaptive_avg_pool3d(x, {1, 1, 1})));
  EXPECT_TRUE(group_norm_layer(x, 3, w, b).equal(at::group_norm(x, 3, w, b)));
  EXPECT_TRUE(at::allclose(instance_norm_layer(x, w, b),
                           at::instance_norm(x, w, b, {}, {}, true, 0, 1e-5, false), 1e-4, 1e-5));
}

TEST(Spatial, KeepsTheLayoutAndTakesLowPrecisionOnTheCpu) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 6, 8, 6}, std::vector<std::int64_t>{2, 6, 8, 6, 4}})
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      const at::Tensor plain = at::randn(sizes).to(type);
      const at::Tensor x = plain.contiguous(channels_last_of(plain));
      for (const auto& function : std::vector<std::function<at::Tensor(const at::Tensor&)>>{
               [](const at::Tensor& t) { return upsample_linear(t, 9); },
               [](const at::Tensor& t) { return max_pool(t, 2); },
               [](const at::Tensor& t) { return average_pool(t, 2); },
               [](const at::Tensor& t) { return adaptive_average_pool(t, 3); },
               [](const at::Tensor& t) { return group_norm_layer(t, 2, {}, {}); },
               [](const at::Tensor& t) { return instance_norm_layer(t, {}, {}); }}) {
        const at::Tensor y = function(x);
        EXPECT_TRUE(y.is_contiguous(channels_last_of(y)));
        EXPECT_TRUE(at::allclose(y.to(at::kFloat), function(plain).to(at::kFloat), 0.05, 0.05));
      }
    }
}

// 1/deviation of a constant group is 1e6 here: more than fp16 holds.
TEST(Spatial, GroupNormOfConstantGroupsHasFiniteGradientsInFp16) {
  const at::Tensor x = at::zeros({1, 4, 2, 2}, at::kHalf).requires_grad_();
  const at::Tensor weight = at::randn({4}).to(at::kHalf).requires_grad_();
  for (const bool last : {false, true}) {
    const at::Tensor in = last ? x.contiguous(channels_last_of(x)) : x;
    const at::Tensor y = group_norm_layer(in, 2, weight, {}, 1e-12);
    EXPECT_EQ(y.scalar_type(), at::kHalf);
    y.mul(0).sum().backward();
    EXPECT_TRUE(x.grad().eq(0).all().item<bool>()) << x.grad();
    EXPECT_TRUE(weight.grad().eq(0).all().item<bool>()) << weight.grad();
  }
}

// A copy of the input in f32 would stay until the backward pass.
TEST(Spatial, GroupNormOnTheCpuKeepsItsInputAndNoCopy) {
  for (const auto type : {at::kHalf, at::kBFloat16})
    for (const bool affine : {false, true}) {
      const at::Tensor x = at::randn({2, 4, 3, 3}).to(type).requires_grad_();
      const at::Tensor weight = affine ? at::randn({4}).to(type) : at::Tensor();
      const at::Tensor bias = affine ? at::randn({4}).to(type) : at::Tensor();
      const at::Tensor y = group_norm_layer(x, 2, weight, bias);
      const auto input = y.grad_fn()->next_edge(0).function;
      EXPECT_NE(input->name().find("AccumulateGrad"), std::string::npos) << input->name();
      const auto defined = [](const at::Tensor& t) {
        return t.defined() ? t.to(at::kFloat) : at::Tensor();
      };
      const at::Tensor exact =
          group_norm_layer(x.detach().to(at::kFloat), 2, defined(weight), defined(bias));
      EXPECT_EQ(y.scalar_type(), type);
      EXPECT_TRUE(at::allclose(y.to(at::kFloat), exact, 0.02, 0.02));
    }
}

TEST(Spatial, RefusesShapesByName) {
  const at::Tensor x = at::randn({2, 6, 8, 6});
  EXPECT_NE(error_of([&] { max_pool(x[0], 2); }).find("max_pool wants floating"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              upsample_linear(x, {1, 2, 3});
            }).find("2 spatial dimensions"),
            std::string::npos);
  EXPECT_NE(error_of([&] { group_norm_layer(x, 4, {}, {}); }).find("6 channels out to 4"),
            std::string::npos);
}

// Which of ATen's operators keep channels-last on the CPU, and whose gradients do.
struct Kept {
  std::string name;
  testing::Function function;
  std::int64_t dimensions;
  bool out = true, gradient = true, bf16 = true;
};

TEST(AtenOnTheCpu, KeepsChannelsLastAsTheTableSays) {
  const auto weight = [](at::IntArrayRef sizes, const at::Tensor& x) {
    return at::randn(sizes).to(x.scalar_type());
  };
  const std::vector<Kept> table{
      {"conv2d",
       [&](const Tensors& t) {
         return at::conv2d(t[0], weight({8, 6, 3, 3}, t[0]));
       },
       2},
      {"conv3d",
       [&](const Tensors& t) {
         return at::conv3d(t[0], weight({8, 6, 3, 3, 3}, t[0]));
       },
       3},
      {"conv_transpose2d",
       [&](const Tensors& t) {
         return at::conv_transpose2d(t[0], weight({6, 8, 2, 2}, t[0]), {}, 2);
       },
       2},
      {"conv_transpose3d",
       [&](const Tensors& t) {
         return at::conv_transpose3d(t[0], weight({6, 8, 2, 2, 2}, t[0]), {}, 2);
       },
       3},
      {"batch_norm 2d",
       [&](const Tensors& t) { return at::batch_norm(t[0], {}, {}, {}, {}, true, 0, 1e-5, false); },
       2},
      {"batch_norm 3d",
       [&](const Tensors& t) { return at::batch_norm(t[0], {}, {}, {}, {}, true, 0, 1e-5, false); },
       3},
      {"group_norm 2d", [](const Tensors& t) { return at::group_norm(t[0], 2); }, 2},
      {"group_norm 3d", [](const Tensors& t) { return at::group_norm(t[0], 2); }, 3},
      {"instance_norm 2d",
       [](const Tensors& t) {
         return at::instance_norm(t[0], {}, {}, {}, {}, true, 0, 1e-5, false);
       },
       2, /*out=*/false},
      {"instance_norm 3d",
       [](const Tensors& t) {
         return at::instance_norm(t[0], {}, {}, {}, {}, true, 0, 1e-5, false);
       },
       3, /*out=*/false},
      {"max_pool2d",
       [](const Tensors& t) {
         return at::max_pool2d(t[0], {2, 2});
       },
       2},
      {"max_pool3d",
       [](const Tensors& t) {
         return at::max_pool3d(t[0], {2, 2, 2});
       },
       3},
      {"avg_pool2d",
       [](const Tensors& t) {
         return at::avg_pool2d(t[0], {2, 2});
       },
       2},
      {"avg_pool3d",
       [](const Tensors& t) {
         return at::avg_pool3d(t[0], {2, 2, 2});
       },
       3, /*out=*/false, /*gradient=*/true, /*bf16=*/false},
      {"adaptive_avg_pool2d",
       [](const Tensors& t) {
         return at::adaptive_avg_pool2d(t[0], {2, 2});
       },
       2},
      {"adaptive_avg_pool3d",
       [](const Tensors& t) {
         return at::adaptive_avg_pool3d(t[0], {2, 2, 2});
       },
       3, /*out=*/false},
      {"upsample_bilinear2d",
       [](const Tensors& t) {
         return at::upsample_bilinear2d(t[0], {16, 12}, false);
       },
       2},
      {"upsample_trilinear3d",
       [](const Tensors& t) {
         return at::upsample_trilinear3d(t[0], {16, 12, 8}, false);
       },
       3},
  };
  for (const Kept& row : table)
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      const at::Tensor x =
          row.dimensions == 2 ? at::randn({2, 6, 8, 6}) : at::randn({2, 6, 8, 6, 4});
      if (type == at::kBFloat16 && !row.bf16) {
        EXPECT_THROW(run_spatial(row.function, {x}, /*last=*/true, type), c10::Error) << row.name;
        continue;
      }
      // Without AVX-512 oneDNN leaves these to ATen's own, whose results are contiguous.
      const bool of_onednn = row.dimensions == 3 && std::string(row.name).starts_with("conv");
      if (type == at::kBFloat16 && of_onednn && !__builtin_cpu_supports("avx512bw")) continue;
      const Tensors found = run_spatial(row.function, {x}, /*last=*/true, type);
      EXPECT_EQ(found[0].is_contiguous(channels_last_of(found[0])), row.out)
          << row.name << " " << type;
      EXPECT_EQ(found[1].is_contiguous(channels_last_of(found[1])), row.gradient)
          << row.name << " gradient " << type;
    }
}

}  // namespace
}  // namespace lockstep
