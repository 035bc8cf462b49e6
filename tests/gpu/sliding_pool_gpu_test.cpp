// The largest of overlapping windows by our kernel: ATen's results and gradients.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <limits>
#include <vector>

namespace lockstep {
namespace {

using SlidingPoolOnGpu = GpuTest;
using testing::expect_near, testing::types;
using Pool = std::function<at::Tensor(const at::Tensor&)>;

struct SlidingPoolCase {
  std::vector<std::int64_t> sizes, window, stride, padding;
};

const std::vector<SlidingPoolCase> cases{
    {{3, 16, 17, 22}, {3, 3}, {2, 2}, {1, 1}},   {{2, 5, 9, 7}, {3, 3}, {2, 2}, {1, 1}},
    {{2, 8, 13, 11}, {5, 2}, {1, 3}, {2, 0}},    {{1, 8, 6, 5}, {2, 2}, {3, 4}, {0, 1}},
    {{2, 24, 16, 16}, {15, 17}, {1, 2}, {7, 8}}, {{1, 1, 1, 1}, {3, 3}, {2, 2}, {1, 1}}};

// The result, its gradient, and in f32 the gradient of a function of that one.
std::vector<at::Tensor> derived(const Pool& pool, const at::Tensor& values) {
  const at::Tensor x = values.detach().clone(at::MemoryFormat::Preserve).requires_grad_();
  const at::Tensor y = pool(x);
  const at::Tensor weights =
      at::arange(y.numel(), y.options().dtype(at::kFloat)).cos().view(y.sizes());
  const at::Tensor loss = y.to(at::kFloat).mul(weights).square().sum();
  std::vector<at::Tensor> all{y.detach(), torch::autograd::grad({loss}, {x}, {}, true)[0]};
  if (values.scalar_type() != at::kFloat) return all;
  const at::Tensor again = torch::autograd::grad({loss}, {x}, {}, true, /*create_graph=*/true)[0];
  all.push_back(torch::autograd::grad({again.square().sum()}, {x})[0]);
  return all;
}

void expect_atens(const SlidingPoolCase& test, const at::Tensor& values, const char* what) {
  const at::Tensor x = values.contiguous(at::MemoryFormat::ChannelsLast);
  ASSERT_TRUE(sliding_pool_serves(x, test.window, test.stride, test.padding)) << what;
  const auto own = derived(
      [&](const at::Tensor& in) { return max_pool(in, test.window, test.stride, test.padding); },
      x);
  const auto wanted = derived(
      [&](const at::Tensor& in) {
        return at::max_pool2d(in, test.window, test.stride, test.padding);
      },
      values.contiguous());
  EXPECT_TRUE(own[0].is_contiguous(at::MemoryFormat::ChannelsLast)) << what;
  EXPECT_TRUE(own[0].equal(wanted[0]) || own[0].isnan().any().item<bool>()) << what;
  for (std::size_t i = 1; i < own.size(); ++i)
    expect_near(own[i], wanted[i], 4 * testing::tolerance(values.scalar_type()), what);
}

TEST_F(SlidingPoolOnGpu, EqualsATens) {
  at::manual_seed(1);
  for (const SlidingPoolCase& test : cases)
    for (const auto type : types) {
      expect_atens(test, at::randn(test.sizes).to(gpu().device(), type), "drawn");
      // Many are equal: the first has the gradient.
      expect_atens(test, at::randint(0, 3, test.sizes).to(gpu().device(), type), "ties");
    }
}

TEST_F(SlidingPoolOnGpu, NanWinsAndMinusInfinityIsFound) {
  const SlidingPoolCase& test = cases[0];
  at::Tensor x =
      at::randn(test.sizes).to(gpu().device()).contiguous(at::MemoryFormat::ChannelsLast);
  x[0][3][5][6] = std::numeric_limits<float>::quiet_NaN();
  x[1].fill_(-std::numeric_limits<float>::infinity());
  const at::Tensor own = max_pool(x, test.window, test.stride, test.padding);
  const at::Tensor wanted = at::max_pool2d(x.contiguous(), test.window, test.stride, test.padding);
  EXPECT_TRUE(own.isnan().equal(wanted.isnan()));
  EXPECT_TRUE(own.nan_to_num(7).equal(wanted.nan_to_num(7)));
}

}  // namespace
}  // namespace lockstep
