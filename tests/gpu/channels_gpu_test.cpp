// Channels put together on the GPU: at::cat to the bit, in every type and layout; graphs; and which
// operators keep a layout that one channel does not show.
#include "fakes/channel_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "kernels/cat_channels.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/randn.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

using ChannelsOnGpu = GpuTest;
using testing::CatCase, testing::cat_cases, testing::channels_last_of, testing::expect_near;
using testing::Tensors, testing::types;

// The result, then the gradients, of a gradient that differs from place to place.
Tensors run(const testing::Function& function, const Tensors& leaves) {
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
        const Tensors found = run(own, leaves), plain = run(atens, leaves);
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
    run(own, leaves);  // makes what is made once
    Tensors recorded;
    const auto graph = gpu().capture([&] { recorded = run(own, leaves); });
    ASSERT_NE(graph, nullptr) << name_of(test);
    {
      const at::AutoGradMode in_place(false);
      for (const at::Tensor& leaf : leaves) leaf.mul_(0.5).add_(0.25);
    }
    graph->replay();
    const Tensors expected = run(atens, leaves);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(recorded[i].equal(expected[i])) << name_of(test) << " #" << i;
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
