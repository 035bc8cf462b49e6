// Channels put together, and the largest of windows, on the GPU: ATen's to the bit, in every type
// and layout; graphs; and convolutions of one channel.
#include "fakes/channel_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/cat_channels/cat_channels.h"
#include "ops/spatial/spatial.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/randn.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using ChannelsOnGpu = GpuTest;
using testing::CatCase, testing::cat_cases, testing::channels_last_of, testing::expect_near;
using testing::Tensors, testing::types, testing::WindowCase;

// The result, then the gradients, of a gradient that differs from place to place.
Tensors run_channels(const testing::Function& function, const Tensors& leaves) {
  const at::Tensor y = function(leaves);
  const at::Tensor up = at::arange(y.numel(), y.options().dtype(at::kFloat))
                            .cos()
                            .view(y.sizes())
                            .to(y.scalar_type());
  Tensors all = torch::autograd::grad({y}, leaves, {up});
  all.insert(all.begin(), y.detach());
  return all;
}

at::Tensor own(const Tensors& t) { return cat_channels(t[0], t[1]); }
at::Tensor atens(const Tensors& t) { return at::cat({t[0], t[1]}, 1); }

std::string name_of(const CatCase& test) {
  return std::to_string(test.a) + " and " + std::to_string(test.b) + " channels";
}

TEST_F(ChannelsOnGpu, CatChannelsIsAtensToTheBit) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const CatCase& test : cat_cases())
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble})
      for (const bool last : {false, true}) {
        const Tensors leaves = testing::cat_leaves(test, type, last, options);
        const Tensors found = run_channels(own, leaves), plain = run_channels(atens, leaves);
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_TRUE(found[i].equal(plain[i])) << name_of(test) << " #" << i << " " << type;
          EXPECT_TRUE(found[i].is_contiguous(last ? channels_last_of(found[i])
                                                  : at::MemoryFormat::Contiguous))
              << name_of(test) << " #" << i << " " << type;
        }
      }
}

TEST_F(ChannelsOnGpu, CatChannelsTakesTensorsThatLieAnyhow) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  const at::Tensor wide = at::randn({2, 6, 5, 8, 17}, options).movedim(-1, 1);  // channels-last
  const at::Tensor plain = at::randn({2, 8, 6, 5, 8}, options);
  for (const at::Tensor& a : {wide.narrow(1, 1, 16), wide.narrow(1, 0, 7)}) {
    const at::Tensor y = cat_channels(a, plain);
    EXPECT_TRUE(y.equal(at::cat({a, plain}, 1)));
  }
  // The gradient of one alone, and one that lies otherwise than the result.
  const at::Tensor a = plain.contiguous(at::MemoryFormat::ChannelsLast3d),
                   b = a.clone().requires_grad_();
  const at::Tensor up = at::randn({2, 16, 6, 5, 8}, options);
  EXPECT_TRUE(torch::autograd::grad({cat_channels(a, b)}, {b}, {up})[0].equal(up.narrow(1, 8, 8)));
}

TEST_F(ChannelsOnGpu, CatChannelsHasSecondDerivatives) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  const CatCase test = cat_cases().front();
  const Tensors found = testing::cat_leaves(test, at::kFloat, true, options),
                plain = testing::cat_leaves(test, at::kFloat, true, options);
  testing::with_penalty(own, found).backward();
  testing::with_penalty(atens, plain).backward();
  for (std::size_t i = 0; i < 2; ++i)
    expect_near(found[i].grad(), plain[i].grad(), 1e-5, "second derivative");
}

TEST_F(ChannelsOnGpu, CatChannelsCanBeRecordedInAGraph) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const CatCase& test : cat_cases()) {
    const Tensors leaves = testing::cat_leaves(test, at::kHalf, true, options);
    run_channels(own, leaves);  // makes what is made once
    Tensors recorded;
    const auto graph = gpu().capture([&] { recorded = run_channels(own, leaves); });
    ASSERT_NE(graph, nullptr) << name_of(test);
    {
      const at::AutoGradMode in_place(false);
      for (const at::Tensor& leaf : leaves) leaf.mul_(0.5).add_(0.25);
    }
    graph->replay();
    const Tensors expected = run_channels(atens, leaves);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(recorded[i].equal(expected[i])) << name_of(test) << " #" << i;
  }
}

using OneToOne = std::function<at::Tensor(const at::Tensor&)>;

// The result, and the gradient by x of a gradient of whole numbers, which every type holds.
Tensors pooled(const OneToOne& pool, const at::Tensor& x) {
  const at::Tensor y = pool(x);
  const at::Tensor up = at::arange(y.numel(), y.options().dtype(at::kFloat)).remainder(7).sub(3);
  Tensors all = torch::autograd::grad({y}, {x}, {up.view(y.sizes()).to(y.scalar_type())});
  all.insert(all.begin(), y.detach());
  return all;
}

OneToOne own_pool(const WindowCase& test) {
  return [=](const at::Tensor& x) { return max_pool(x, test.window); };
}

// ATen's own, over contiguous elements.
OneToOne plain_pool(const WindowCase& test) {
  return [=](const at::Tensor& x) { return testing::atens_max_pool(x.contiguous(), test.window); };
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.nan_to_num(99).equal(b.nan_to_num(99)) && a.isnan().equal(b.isnan());
}

TEST_F(ChannelsOnGpu, MaxPoolIsAtensToTheBit) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const WindowCase& test : testing::window_cases())
    for (const auto type : types)
      for (const bool odd : {false, true}) {
        const at::Tensor x = testing::window_values(test, type, odd, options);
        const Tensors found = pooled(own_pool(test), x), plain = pooled(plain_pool(test), x);
        for (std::size_t i = 0; i < 2; ++i) {
          EXPECT_TRUE(same(found[i], plain[i])) << test.name() << " #" << i << " " << type << odd;
          EXPECT_TRUE(found[i].is_contiguous(channels_last_of(found[i]))) << test.name();
        }
      }
}

// With `deterministic` too, which refuses ATen's own in three dimensions.
TEST_F(ChannelsOnGpu, MaxPoolRepeatsToTheBit) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const WindowCase& test : testing::window_cases()) {
    const at::Tensor x = testing::window_values(test, at::kHalf, /*odd=*/true, options);
    const Tensors first = pooled(own_pool(test), x);
    const Deterministic deterministic;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Tensors again = pooled(own_pool(test), x);
      for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same(again[i], first[i])) << test.name();
    }
  }
}

TEST_F(ChannelsOnGpu, MaxPoolHasSecondDerivatives) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const WindowCase& test : testing::window_cases()) {
    const at::Tensor x = testing::window_values(test, at::kFloat, /*odd=*/false, options);
    const Tensors own_leaves{x}, leaves{x.detach().clone().requires_grad_()};
    testing::with_penalty([&](const Tensors& t) { return own_pool(test)(t[0]); }, own_leaves)
        .backward();
    testing::with_penalty([&](const Tensors& t) { return plain_pool(test)(t[0]); }, leaves)
        .backward();
    expect_near(own_leaves[0].grad(), leaves[0].grad(), 1e-5, test.name());
  }
}

TEST_F(ChannelsOnGpu, MaxPoolTakesTensorsThatLieAnyhow) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  const at::Tensor wide = at::randn({2, 6, 5, 8, 17}, options).movedim(-1, 1);  // channels-last
  for (const at::Tensor& x : {wide.narrow(1, 1, 16), wide.narrow(1, 0, 7), wide.narrow(4, 1, 6),
                              wide.contiguous().narrow(1, 0, 16)}) {
    const at::Tensor leaf = x.detach().requires_grad_();
    const auto own = [](const at::Tensor& t) { return max_pool(t, 2); };
    const auto plain = [](const at::Tensor& t) {
      return at::max_pool3d(t.contiguous(), {2, 2, 2});
    };
    const Tensors found = pooled(own, leaf), expected = pooled(plain, leaf);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
  }
}

TEST_F(ChannelsOnGpu, MaxPoolCanBeRecordedInAGraph) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const WindowCase& test : testing::window_cases()) {
    const at::Tensor x = testing::window_values(test, at::kHalf, /*odd=*/false, options);
    pooled(own_pool(test), x);  // makes what is made once
    Tensors recorded;
    const auto graph = gpu().capture([&] { recorded = pooled(own_pool(test), x); });
    ASSERT_NE(graph, nullptr) << test.name();
    {
      const at::AutoGradMode in_place(false);
      x.neg_();
    }
    graph->replay();
    const Tensors expected = pooled(own_pool(test), x);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(recorded[i].equal(expected[i])) << test.name();
  }
}

// As a U-Net has it: the skip's gradient is some of the channels of another's.
TEST_F(ChannelsOnGpu, PoolWindowsAddsTheGradientOfWhatElseUsesItsInput) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device());
  for (const WindowCase& test : testing::window_cases())
    for (const auto type : types)
      for (const int way : {0, 1, 2}) {
        const at::Tensor x = testing::window_values(test, type, /*odd=*/false, options);
        const at::Tensor beside = testing::window_values(test, type, false, options).detach();
        const auto joined = [&](const at::Tensor& y, const at::Tensor& skip) {
          const at::Tensor both = way == 0   ? cat_channels(skip, beside)
                                  : way == 1 ? at::cat({skip, beside}, 1)
                                             : skip.square().sum();
          return Tensors{y, both};
        };
        const auto of_both = [&](const Tensors& both) {
          Tensors up;
          for (const at::Tensor& y : both)
            up.push_back(at::arange(y.numel(), y.options().dtype(at::kFloat))
                             .remainder(7)
                             .sub(3)
                             .view(y.sizes())
                             .to(y.scalar_type()));
          return torch::autograd::grad(both, {x}, up)[0];
        };
        const PooledWindows found = pool_windows(x, test.window);
        EXPECT_TRUE(found.x.equal(x)) << test.name();
        EXPECT_TRUE(
            of_both(joined(found.largest, found.x)).equal(of_both(joined(plain_pool(test)(x), x))))
            << test.name() << " " << type << " " << way;
      }
}

// What docs/design/kernels.md says of one channel in, and of one out.
TEST_F(ChannelsOnGpu, ConvolutionsOfOneChannelAnswerChannelsLast) {
  const at::TensorOptions options = at::TensorOptions().device(gpu().device()).dtype(at::kHalf);
  const auto format = at::MemoryFormat::ChannelsLast3d;
  const at::Tensor x = at::randn({2, 1, 8, 8, 8}, options);
  const at::Tensor weight = at::randn({16, 1, 3, 3, 3}, options).contiguous(format);
  const at::Tensor head = at::randn({1, 16, 1, 1, 1}, options).contiguous(format);
  const auto convolved = [](const at::Tensor& input, const at::Tensor& by, std::int64_t padding) {
    const std::vector<std::int64_t> one(3, 1), none(3, 0), pads(3, padding);
    return at::convolution(input, by, {}, one, pads, one, false, none, 1);
  };
  EXPECT_EQ(convolved(x.contiguous(format), weight, 1).suggest_memory_format(),
            at::MemoryFormat::Contiguous);
  const at::Tensor y = convolved(as_channels_last(x), weight, 1);
  EXPECT_EQ(y.suggest_memory_format(), format);
  expect_near(y, convolved(x.to(at::kDouble), weight.to(at::kDouble), 1), 1e-3, "first");
  const at::Tensor logits = convolved(y, head, 0);
  EXPECT_EQ(logits.suggest_memory_format(), format);
  expect_near(logits, convolved(y.to(at::kDouble), head.to(at::kDouble), 0), 1e-3, "head");
}

}  // namespace
}  // namespace lockstep
