// Batch norm with what follows it by our kernels: ATen's results and gradients.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/block_convolution/block_convolution.h"
#include "ops/pointwise/pointwise.h"
#include "ops/shared/recompute.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/var_mean.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

using BatchNormOnGpu = GpuTest;
using testing::expect_near, testing::tolerance, testing::types;

struct NormCase {
  std::vector<std::int64_t> sizes;
  bool training = true, skip = false, relu = false, affine = true;
  bool skip_norm = false;  // the skip has a norm of its own
  std::string name() const {
    return c10::str("batch norm of ", c10::IntArrayRef(sizes), training ? "" : ", given",
                    skip ? ", skip" : "", skip_norm ? " normed" : "", relu ? ", relu" : "",
                    affine ? "" : ", not affine");
  }
};

std::vector<NormCase> all_cases() {
  std::vector<NormCase> cases;
  // Vectors and scalars, few rows and many, one slab and several, images and volumes.
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{20, 64, 40, 40},
                                                 {3, 5, 9, 11},
                                                 {2, 2056, 5, 4},
                                                 {1, 8, 1, 3},
                                                 {4, 256, 20, 20},
                                                 {2, 16, 5, 6, 7},
                                                 {8, 1024, 20, 20}})
    for (const bool training : {true, false})
      for (const bool skip : {false, true})
        for (const bool relu : {false, true})
          for (const bool affine : {true, false})
            for (const bool skip_norm : skip ? std::vector{false, true} : std::vector{false})
              cases.push_back({sizes, training, skip, relu, affine, skip_norm});
  return cases;
}

BatchNormState state_of(const NormCase& test, at::Device device) {
  const std::int64_t channels = test.sizes[1];
  BatchNormState state{.running_mean = at::randn({channels}).to(device),
                       .running_var = at::rand({channels}).add(0.5).to(device)};
  if (!test.affine) return state;
  state.weight = at::randn({channels}).to(device).requires_grad_();  // some below 0
  state.bias = at::randn({channels}).to(device).requires_grad_();
  return state;
}

at::MemoryFormat last(const at::Tensor& x) {
  return x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d;
}

BatchNormState with_statistics_of_its_own(BatchNormState state) {
  state.running_mean = state.running_mean.clone();
  state.running_var = state.running_var.clone();
  return state;
}

// The skip's: other numbers than x's, without a weight of its own where x's has none.
BatchNormState state_of_skip(const BatchNormState& of_x) {
  BatchNormState state = with_statistics_of_its_own(of_x);
  state.running_mean.neg_();
  state.running_var.mul_(2);
  state.eps = 1e-3;
  if (!of_x.weight.defined()) return state;
  state.weight = of_x.weight.detach().cos().requires_grad_();
  state.bias = of_x.bias.detach().sin().requires_grad_();
  return state;
}

at::Tensor by_aten(const at::Tensor& x, const BatchNormState& state, bool training) {
  const auto maybe = [](const at::Tensor& t) {
    return t.defined() ? std::optional(t) : std::nullopt;
  };
  return at::batch_norm(x, maybe(state.weight), maybe(state.bias), state.running_mean,
                        state.running_var, training, state.momentum, state.eps, false);
}

// The result, then gradients by x, skip, weight, bias and those of the skip's norm as far as there
// are any, then the running statistics.
std::vector<at::Tensor> run_norm(const NormCase& test, const BatchNormState& given,
                                 const at::Tensor& x, const at::Tensor& skip, bool by_kernels) {
  const BatchNormState state = with_statistics_of_its_own(given), other = state_of_skip(given);
  std::vector<at::Tensor> leaves{x.detach().clone(last(x)).requires_grad_()};
  AfterNorm after{.skip = {}, .relu = test.relu};
  if (test.skip) {
    leaves.push_back(skip.detach().clone(last(x)).requires_grad_());
    after.skip = leaves[1];
  }
  if (test.skip_norm) after.skip_norm = other;
  at::Tensor out;
  if (by_kernels) {
    out = batch_norm(leaves[0], state, test.training, nullptr, after);
  } else {
    out = by_aten(leaves[0], state, test.training);
    if (test.skip)
      out = out + (test.skip_norm ? by_aten(leaves[1], other, test.training) : leaves[1]);
    if (test.relu) out = at::relu(out);
  }
  if (test.affine) leaves.insert(leaves.end(), {state.weight, state.bias});
  if (test.affine && test.skip_norm) leaves.insert(leaves.end(), {other.weight, other.bias});
  const at::Tensor weights = at::arange(out.numel(), out.options().dtype(at::kFloat)).cos();
  const at::Tensor loss = out.to(at::kFloat).mul(weights.view(out.sizes())).square().sum();
  std::vector<at::Tensor> all{out.detach()};
  for (const at::Tensor& gradient : torch::autograd::grad({loss}, leaves)) all.push_back(gradient);
  all.insert(all.end(),
             {other.running_mean, other.running_var, state.running_mean, state.running_var});
  return all;
}

TEST_F(BatchNormOnGpu, EqualsATens) {
  for (const NormCase& test : all_cases())
    for (const auto type : types) {
      at::manual_seed(3);
      const auto format = test.sizes.size() == 4 ? at::MemoryFormat::ChannelsLast
                                                 : at::MemoryFormat::ChannelsLast3d;
      const at::Tensor x =
          at::randn(test.sizes).mul(2).add(3).to(gpu().device(), type).contiguous(format);
      const at::Tensor skip = at::randn(test.sizes).to(gpu().device(), type).contiguous(format);
      const BatchNormState state = state_of(test, gpu().device());
      const auto own = run_norm(test, state, x, skip, true);
      // Of the same rounded numbers, in f32.
      const auto wanted = run_norm(test, state, x.to(at::kFloat), skip.to(at::kFloat), false);
      ASSERT_EQ(own.size(), wanted.size());
      EXPECT_TRUE(own[0].is_contiguous(format)) << test.name();
      for (std::size_t i = 0; i < own.size(); ++i)
        expect_near(own[i], wanted[i], type == at::kFloat ? 2e-5 : 4 * tolerance(type),
                    test.name() + ", number " + std::to_string(i));
    }
}

TEST_F(BatchNormOnGpu, RepeatsToTheBit) {
  for (const bool skip_norm : {false, true}) {
    const NormCase test{.sizes = {20, 64, 40, 40},
                        .training = true,
                        .skip = true,
                        .relu = true,
                        .skip_norm = skip_norm};
    const at::Tensor x = at::randn(test.sizes)
                             .to(gpu().device(), at::kHalf)
                             .contiguous(at::MemoryFormat::ChannelsLast);
    const BatchNormState state = state_of(test, gpu().device());
    const auto first = run_norm(test, state, x, x, true);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto again = run_norm(test, state, x, x, true);
      for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_TRUE(again[i].equal(first[i])) << test.name() << i;
    }
  }
}

TEST_F(BatchNormOnGpu, IsDifferentiableTwice) {
  for (int kind = 0; kind < 12; ++kind) {
    const bool training = (kind & 1) != 0, is_aligned = (kind & 2) != 0, skip = kind >= 4,
               skip_norm = kind >= 8;
    const NormCase test{.sizes = is_aligned ? std::vector<std::int64_t>{3, 8, 4, 5}
                                            : std::vector<std::int64_t>{3, 5, 3, 3},
                        .training = training,
                        .skip = skip,
                        .relu = true,
                        .skip_norm = skip_norm};
    at::manual_seed(5);
    const BatchNormState state = state_of(test, gpu().device());
    // Some begin where vectors of 16 bytes cannot be read.
    const at::Tensor wide = at::randn({4, 5, 3, 3}).to(gpu().device());
    const at::Tensor values = test.sizes[1] == 8
                                  ? at::randn(test.sizes).to(gpu().device())
                                  : wide.contiguous(at::MemoryFormat::ChannelsLast).narrow(0, 1, 3);
    std::vector<at::Tensor> found;
    for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::Contiguous}) {
      const BatchNormState own = with_statistics_of_its_own(state);
      const at::Tensor x = values.contiguous(format).detach().requires_grad_(true);
      AfterNorm after{.skip = {}, .relu = true};
      if (skip) after.skip = x.cos().contiguous(format);
      if (skip_norm) after.skip_norm = state_of_skip(state);
      const at::Tensor out = batch_norm(x, own, training, nullptr, after);
      const at::Tensor of_x =
          torch::autograd::grad({out.pow(3).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
      found.push_back(torch::autograd::grad({of_x.square().sum()}, {x})[0]);
    }
    expect_near(found[0], found[1], 1e-4, test.name());
  }
}

struct PoolCase {
  std::vector<std::int64_t> sizes;
  MaxPool pool;
  bool training = true, affine = true;
  std::string name() const {
    return c10::str("pooled batch norm of ", c10::IntArrayRef(sizes), ", window ", pool.window,
                    ", stride ", pool.stride, ", padding ", pool.padding, training ? "" : ", given",
                    affine ? "" : ", not affine");
  }
};

std::vector<PoolCase> pool_cases() {
  std::vector<PoolCase> cases;
  // Vectors and scalars; windows that overlap and that do not, odd sizes and even.
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{6, 64, 40, 42}, {3, 5, 9, 11}, {2, 24, 7, 8}, {1, 8, 3, 3}})
    for (const MaxPool pool :
         {MaxPool{3, 2, 1}, MaxPool{2, 2, 0}, MaxPool{3, 1, 1}, MaxPool{3, 3, 0}})
      for (const bool training : {true, false})
        for (const bool affine : {true, false}) cases.push_back({sizes, pool, training, affine});
  return cases;
}

// The result, gradients by x, weight and bias as far as there are any, the running statistics.
// by_kernels: else by ATen.
std::vector<at::Tensor> run_pooled(const PoolCase& test, const BatchNormState& given,
                                   const at::Tensor& x, bool by_kernels) {
  const BatchNormState state = with_statistics_of_its_own(given);
  std::vector<at::Tensor> leaves{x.detach().clone(last(x)).requires_grad_()};
  const MaxPool& pool = test.pool;
  const at::Tensor out =
      by_kernels
          ? batch_norm(leaves[0], state, test.training, nullptr, {.relu = true, .pool = pool})
          : at::max_pool2d(at::relu(by_aten(leaves[0], state, test.training)),
                           {pool.window, pool.window}, {pool.stride, pool.stride},
                           {pool.padding, pool.padding});
  if (test.affine) leaves.insert(leaves.end(), {state.weight, state.bias});
  const at::Tensor weights = at::arange(out.numel(), out.options().dtype(at::kFloat)).cos();
  const at::Tensor loss = out.to(at::kFloat).mul(weights.view(out.sizes())).square().sum();
  std::vector<at::Tensor> all{out.detach()};
  for (const at::Tensor& gradient : torch::autograd::grad({loss}, leaves)) all.push_back(gradient);
  all.insert(all.end(), {state.running_mean, state.running_var});
  return all;
}

TEST_F(BatchNormOnGpu, WithAPoolEqualsATens) {
  for (const PoolCase& test : pool_cases())
    for (const auto type : types) {
      at::manual_seed(3);
      const at::Tensor x = at::randn(test.sizes)
                               .mul(2)
                               .add(3)
                               .to(gpu().device(), type)
                               .contiguous(at::MemoryFormat::ChannelsLast);
      const BatchNormState state =
          state_of({.sizes = test.sizes, .affine = test.affine}, gpu().device());
      const auto own = run_pooled(test, state, x, true);
      // Of the same rounded numbers, in f32.
      const auto wanted = run_pooled(test, state, x.to(at::kFloat), false);
      ASSERT_EQ(own.size(), wanted.size());
      EXPECT_TRUE(own[0].is_contiguous(at::MemoryFormat::ChannelsLast)) << test.name();
      for (std::size_t i = 0; i < own.size(); ++i)
        expect_near(own[i], wanted[i], type == at::kFloat ? 2e-5 : 4 * tolerance(type),
                    test.name() + ", number " + std::to_string(i));
      const auto again = run_pooled(test, state, x, true);
      for (std::size_t i = 0; i < own.size(); ++i)
        EXPECT_TRUE(again[i].equal(own[i])) << test.name() << i;
    }
}

TEST_F(BatchNormOnGpu, WithAPoolIsDifferentiableTwice) {
  for (const bool training : {true, false})
    for (const std::int64_t channels : {8, 5}) {
      at::manual_seed(5);
      const BatchNormState state = state_of({.sizes = {3, channels, 6, 5}}, gpu().device());
      const at::Tensor values = at::randn({3, channels, 6, 5}).to(gpu().device());
      std::vector<at::Tensor> found;
      for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::Contiguous}) {
        const BatchNormState own = with_statistics_of_its_own(state);
        const at::Tensor x = values.contiguous(format).detach().requires_grad_(true);
        const at::Tensor out =
            batch_norm(x, own, training, nullptr, {.relu = true, .pool = MaxPool{3, 2, 1}});
        const at::Tensor of_x =
            torch::autograd::grad({out.pow(3).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
        found.push_back(torch::autograd::grad({of_x.square().sum()}, {x})[0]);
      }
      expect_near(found[0], found[1], 1e-4, c10::str("with a pool, channels ", channels));
    }
}

// Means and variances over all but channels as moments tell them, [2, C].
at::Tensor statistics_of(const ChannelMoments& moments) {
  const at::Tensor means = moments.partial.select(1, 0), squares = moments.partial.select(1, 1);
  const at::Tensor rows = moments.elements.unsqueeze(1), count = rows.sum();
  const at::Tensor mean = means.mul(rows).sum(0).div(count);
  const at::Tensor all = squares.add(means.sub(mean).square().mul(rows)).sum(0);
  return at::stack({mean, all.div(count)});
}
at::Tensor statistics_of(const at::Tensor& x) {
  const auto [variance, mean] = at::var_mean(x.to(at::kFloat), {0, 2, 3}, /*unbiased=*/false);
  return at::stack({mean, variance});
}

TEST_F(BatchNormOnGpu, ConvolutionsTellOfTheirMoments) {
  struct Case {
    std::int64_t in, out, batch, height, width;
  };
  for (const Case& test : {Case{64, 256, 3, 9, 7}, Case{64, 512, 2, 21, 20},
                           Case{64, 256, 20, 80, 80}, Case{64, 256, 1, 1, 1}})
    for (const auto type : {at::kBFloat16, at::kHalf}) {
      at::manual_seed(6);
      const auto format = at::MemoryFormat::ChannelsLast;
      const at::Tensor x = at::randn({test.batch, test.in, test.height, test.width})
                               .add(2)
                               .to(gpu().device(), type)
                               .contiguous(format);
      const at::Tensor weight =
          at::randn({test.out, test.in, 1, 1}).mul(0.1).to(gpu().device(), type);
      ChannelMoments moments;
      const at::Tensor y = pointwise_convolution(x, weight, {}, &moments);
      ASSERT_TRUE(moments.partial.defined());
      EXPECT_TRUE(y.is_contiguous(format));
      expect_near(y, at::conv2d(x.to(at::kFloat), weight.to(at::kFloat)), 2 * tolerance(type),
                  "product");
      expect_near(statistics_of(moments), statistics_of(y), tolerance(type), "moments");
      ChannelMoments again;
      EXPECT_TRUE(pointwise_convolution(x, weight, {}, &again).equal(y));
      EXPECT_TRUE(again.partial.equal(moments.partial));
    }
  for (const std::int64_t outs : {64, 128}) {
    const at::Tensor blocks =
        in_blocks(at::randn({5, 3, 90, 70}).add(1).to(gpu().device(), at::kHalf));
    const at::Tensor weight = at::randn({outs, 3, 7, 7}).mul(0.1).to(gpu().device(), at::kHalf);
    ChannelMoments moments;
    const at::Tensor y = block_convolution(blocks, weight, {}, &moments);
    ASSERT_TRUE(moments.partial.defined());
    EXPECT_TRUE(y.equal(block_convolution(blocks, weight)));
    expect_near(statistics_of(moments), statistics_of(y), 1e-3, "moments of blocks");
  }
}

TEST_F(BatchNormOnGpu, MomentsThatAreKnownChangeNothing) {
  at::manual_seed(7);
  const auto format = at::MemoryFormat::ChannelsLast;
  const auto drawn = [&](at::IntArrayRef sizes) {
    return at::randn(sizes).to(gpu().device(), at::kHalf).contiguous(format);
  };
  const at::Tensor x = drawn({4, 64, 24, 24}), other = drawn({4, 64, 24, 24});
  const at::Tensor weight = drawn({256, 64, 1, 1}), other_weight = drawn({256, 64, 1, 1});
  const BatchNormState state = state_of({.sizes = {1, 256}}, gpu().device());
  for (const int kind : {0, 1, 2, 3, 4, 5}) {  // with 4 and 5 one of two is known
    std::vector<std::vector<at::Tensor>> found;
    for (const bool tells : {true, false}) {
      const BatchNormState own = with_statistics_of_its_own(state), of_skip = state_of_skip(state);
      KnownMoments known;
      const at::Tensor y = pointwise_convolution(x, weight, {}, &known.x).detach().requires_grad_();
      const at::Tensor skip =
          pointwise_convolution(other, other_weight, {}, &known.skip).detach().requires_grad_();
      AfterNorm after{.skip = kind == 0 || kind == 3 ? at::Tensor() : skip, .relu = true};
      if (kind == 2 || kind > 3) after.skip_norm = of_skip;
      if (kind == 4) known.x = {};
      if (kind == 5) known.skip = {};
      if (kind == 3) after.pool = MaxPool{3, 2, 1};
      const at::Tensor out =
          batch_norm(y, own, true, nullptr, after, tells ? known : KnownMoments());
      const at::Tensor of_y = torch::autograd::grad({out.to(at::kFloat).square().sum()}, {y})[0];
      found.push_back({out, of_y, own.running_mean, own.running_var, of_skip.running_mean,
                       of_skip.running_var});
    }
    for (std::size_t i = 0; i < found[0].size(); ++i)
      expect_near(found[0][i], found[1][i], 2e-3, c10::str("known, kind ", kind, ", number ", i));
  }
}

TEST_F(BatchNormOnGpu, RunningStatisticsMoveOnceWhereABlockIsComputedAgain) {
  const NormCase test{.sizes = {4, 8, 6, 6}, .training = true, .relu = true};
  const BatchNormState state = state_of(test, gpu().device());
  const at::Tensor x = at::randn(test.sizes)
                           .to(gpu().device())
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .requires_grad_();
  const auto once = run_norm(test, state, x, {}, true);
  const at::Tensor y = recomputed(
      [&](const std::vector<at::Tensor>& in) {
        return std::vector{batch_norm(in[0], state, true, nullptr, {.skip = {}, .relu = true})};
      },
      {x}, {state.weight, state.bias})[0];
  y.square().sum().backward();
  const std::size_t count = once.size();
  EXPECT_TRUE(state.running_mean.equal(once[count - 2]));
  EXPECT_TRUE(state.running_var.equal(once[count - 1]));
}

}  // namespace
}  // namespace lockstep
