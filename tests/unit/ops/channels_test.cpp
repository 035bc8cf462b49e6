// Channels of two tensors in one: at::cat's values, dense gradients in the layout, and what it
// refuses; windows and what else uses their input; a tensor of one channel that lies channels-last.
#include "ops/cat_channels/cat_channels.h"

#include "fakes/channel_cases.h"
#include "fakes/error_of.h"
#include "ops/spatial/spatial.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::CatCase, testing::cat_cases, testing::channels_last_of, testing::Tensors,
    testing::WindowCase;

TEST(CatChannels, IsAtensWithDenseGradientsInTheLayout) {
  for (const CatCase& test : cat_cases())
    for (const bool last : {false, true}) {
      const Tensors own = testing::cat_leaves(test, at::kFloat, last),
                    plain = testing::cat_leaves(test, at::kFloat, last);
      const at::Tensor y = cat_channels(own[0], own[1]);
      EXPECT_TRUE(y.equal(at::cat({plain[0], plain[1]}, 1)));
      testing::score(y).backward();
      testing::score(at::cat({plain[0], plain[1]}, 1)).backward();
      const auto format = last ? channels_last_of(y) : at::MemoryFormat::Contiguous;
      EXPECT_TRUE(y.is_contiguous(format));
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(own[i].grad().equal(plain[i].grad())) << i;
        EXPECT_TRUE(own[i].grad().is_contiguous(format)) << i;
      }
    }
}

// Not by way of a leaf's own gradient, which autograd lays out as it likes.
TEST(CatChannels, GivesItsInputsDenseGradients) {
  for (const bool last : {false, true}) {
    at::Tensor x = at::randn({2, 6, 4, 5, 3});
    if (last) x = x.contiguous(channels_last_of(x));
    x.requires_grad_();
    const at::Tensor a = x * 2, b = x * 3;
    const auto found = torch::autograd::grad({cat_channels(a, b).square().sum()}, {a, b});
    for (const at::Tensor& gradient : found)
      EXPECT_TRUE(
          gradient.is_contiguous(last ? channels_last_of(x) : at::MemoryFormat::Contiguous));
  }
}

TEST(CatChannels, IsChannelsLastIfEitherIs) {
  const at::Tensor a = at::randn({2, 3, 4, 5}), b = at::randn({2, 6, 4, 5});
  for (const bool first : {false, true}) {
    const at::Tensor y = first ? cat_channels(a.contiguous(at::MemoryFormat::ChannelsLast), b)
                               : cat_channels(a, b.contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(y.equal(at::cat({a, b}, 1)));
  }
}

TEST(CatChannels, HasSecondDerivatives) {
  for (const CatCase& test : cat_cases()) {
    const Tensors own = testing::cat_leaves(test, at::kFloat, /*last=*/true),
                  plain = testing::cat_leaves(test, at::kFloat, /*last=*/true);
    testing::with_penalty([](const Tensors& t) { return cat_channels(t[0], t[1]); }, own)
        .backward();
    testing::with_penalty(
        [](const Tensors& t) {
          return at::cat({t[0], t[1]}, 1);
        },
        plain)
        .backward();
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(at::allclose(own[i].grad(), plain[i].grad(), 1e-5, 1e-5)) << i;
  }
}

TEST(CatChannels, GivesNoGradientToWhatWantsNone) {
  const at::Tensor a = at::randn({1, 2, 3, 4}), b = at::randn({1, 1, 3, 4}).requires_grad_();
  cat_channels(a, b).sum().backward();
  EXPECT_FALSE(a.grad().defined());
  EXPECT_TRUE(b.grad().eq(1).all().item<bool>());
}

TEST(CatChannels, RefusesShapesAndTypesByName) {
  const at::Tensor a = at::randn({2, 3, 4, 5});
  for (const at::Tensor& b :
       {at::randn({2, 3, 4}), at::randn({1, 3, 4, 5}), at::randn({2, 3, 5, 5}), a.to(at::kDouble)})
    EXPECT_NE(error_of([&] { cat_channels(a, b); }).find("differ in their channels alone"),
              std::string::npos);
}

TEST(Windows, AreAtensWithTheGradientOfWhatElseUsesTheirInput) {
  for (const WindowCase& test : testing::window_cases()) {
    const at::Tensor own = testing::window_values(test, at::kFloat, /*odd=*/false);
    const at::Tensor plain = own.detach().clone().requires_grad_();
    const PooledWindows pooled = pool_windows(own, test.window);
    const at::Tensor expected = testing::atens_max_pool(plain, test.window);
    EXPECT_TRUE(pooled.largest.equal(expected)) << test.name();
    EXPECT_TRUE(pooled.x.equal(plain)) << test.name();
    (testing::score(pooled.largest) + testing::score(pooled.x)).backward();
    (testing::score(expected) + testing::score(plain)).backward();
    EXPECT_TRUE(at::allclose(own.grad(), plain.grad(), 1e-5, 1e-6)) << test.name();
  }
}

TEST(AsChannelsLast, LetsOneChannelSaySoWhereContiguousDoesNot) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 1, 6, 4}, std::vector<std::int64_t>{1, 1, 6, 4, 3}}) {
    const at::Tensor x = at::randn(sizes);
    const auto format = channels_last_of(x);
    EXPECT_NE(x.contiguous(format).suggest_memory_format(), format);
    const at::Tensor last = as_channels_last(x);
    EXPECT_EQ(last.suggest_memory_format(), format);
    EXPECT_EQ(last.data_ptr(), x.data_ptr());
    EXPECT_TRUE(last.equal(x));
    // A leaf's gradient comes back through it.
    const at::Tensor leaf = x.clone().requires_grad_();
    as_channels_last(leaf).mul(x).sum().backward();
    EXPECT_TRUE(leaf.grad().equal(x));
  }
}

TEST(AsChannelsLast, MovesSeveralChannelsAndRefusesRows) {
  const at::Tensor x = at::randn({2, 3, 4, 5});
  EXPECT_TRUE(as_channels_last(x).is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(as_channels_last(x).equal(x));
  EXPECT_NE(error_of([&] { as_channels_last(x[0]); }).find("as_channels_last wants"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
