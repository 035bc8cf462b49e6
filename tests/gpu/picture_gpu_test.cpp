// Pictures as a network reads them, and first convolutions over blocks, on the GPU: what the CPU
// gives, in every type and layout; the same bits each time; and graphs.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/block_convolution/block_convolution.h"
#include "ops/picture_input/picture_input.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

using PicturesOnGpu = GpuTest;
using testing::expect_near, testing::tolerance, testing::types;

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;
constexpr PictureLayout layouts[] = {PictureLayout::plain, PictureLayout::blocks};

at::Tensor drawn_pictures(std::int64_t count, std::int64_t channels, std::int64_t height,
                          std::int64_t width) {
  return at::randint(0, 256, {count, channels, height, width}, at::kByte);
}

PictureInput normalised(std::int64_t channels) {
  PictureInput how;
  for (std::int64_t c = 0; c < channels; ++c) {
    how.mean.push_back(100 + 7 * static_cast<double>(c));
    how.factor.push_back(0.01 + 0.003 * static_cast<double>(c));
  }
  return how;
}

// Value by value, within the rounding of the type.
void expect_the_cpus_pictures(const std::vector<PictureSet>& sets, const PictureInput& how,
                              const at::Device& device, const std::string& what) {
  std::vector<PictureSet> there;
  for (const PictureSet& set : sets)
    there.push_back({.pictures = set.pictures.to(device),
                     .numbers = set.numbers.defined() ? set.numbers.to(device) : set.numbers});
  const at::Tensor found = picture_input(there, how);
  PictureInput exact = how;
  exact.dtype = at::kFloat;
  const at::Tensor wanted = picture_input(sets, exact);
  EXPECT_EQ(found.scalar_type(), how.dtype) << what;
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  if (found.size(2) * found.size(3) > 1) {  // else the strides may be any
    EXPECT_EQ(found.suggest_memory_format(), channels_last) << what;
  }
  EXPECT_TRUE(found.is_contiguous(channels_last)) << what;
  // In f32, the mean of a picture is added up in another order.
  const double near = how.dtype == at::kFloat ? 1e-5 : tolerance(how.dtype);
  const at::Tensor error = found.cpu().to(at::kFloat).sub(wanted).abs();
  EXPECT_TRUE(error.le(wanted.abs().add(1).mul(near)).all().item<bool>())
      << what << ": " << error.max().item<float>();
}

TEST_F(PicturesOnGpu, AreTheCpusInEveryTypeLayoutAndSize) {
  at::manual_seed(3);
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes{
      {1, 1}, {2, 2}, {5, 7}, {33, 64}, {64, 31}, {120, 160}, {321, 203}};
  for (const std::int64_t channels : {1, 2, 3, 4})
    for (const auto& [height, width] : sizes)
      for (const auto format : {at::MemoryFormat::Contiguous, channels_last})
        for (const auto layout : layouts)
          for (const auto type : types)
            // Bits: whether flips, brightness and contrast are on.
            for (const int on : {0, 1, 2, 4, 7}) {
              PictureInput how = normalised(channels);
              how.flip = (on & 1) != 0;
              how.brightness = (on & 2) != 0 ? 0.3 : 0;
              how.contrast = (on & 4) != 0 ? 0.4 : 0;
              how.dtype = type;
              how.layout = layout;
              const at::Tensor pictures =
                  drawn_pictures(3, channels, height, width).contiguous(format);
              expect_the_cpus_pictures({{pictures, at::rand({3, 3})}}, how, gpu().device(),
                                       std::to_string(channels) + " x " + std::to_string(height) +
                                           " x " + std::to_string(width) + ", " +
                                           std::to_string(on));
            }
}

TEST_F(PicturesOnGpu, OfSeveralSetsLieOneBehindTheOther) {
  at::manual_seed(4);
  for (const auto layout : layouts)
    for (const auto type : types) {
      PictureInput how = normalised(3);
      how.flip = true;
      how.contrast = 0.2;
      how.dtype = type;
      how.layout = layout;
      const at::Tensor some = drawn_pictures(5, 3, 31, 45), last = some.contiguous(channels_last);
      // Without numbers; none; a picture that does not begin at a multiple of 16 bytes.
      expect_the_cpus_pictures({{some, at::rand({5, 3})},
                                {last, {}},
                                {drawn_pictures(0, 3, 31, 45), at::rand({0, 3})},
                                {some.narrow(0, 1, 3), at::rand({3, 3})}},
                               how, gpu().device(), "sets");
      // Pictures that lie anyhow.
      expect_the_cpus_pictures(
          {{drawn_pictures(2, 4, 40, 30).narrow(1, 1, 3).narrow(2, 3, 33), at::rand({2, 3})}}, how,
          gpu().device(), "parts");
    }
}

TEST_F(PicturesOnGpu, TakeAViewThatBeginsAnywhere) {
  const at::Tensor bytes = at::randint(0, 256, {3 * 20 * 20 * 2 + 16}, at::kByte);
  const at::Tensor there = bytes.to(gpu().device());
  for (std::int64_t begin = 0; begin < 16; ++begin) {
    PictureInput how = normalised(3);
    how.contrast = 0.5;
    const at::Tensor numbers = at::rand({2, 3});
    const auto view = [&](const at::Tensor& of) {
      return of.narrow(0, begin, 3 * 20 * 20 * 2).view({2, 3, 20, 20});
    };
    const at::Tensor wanted = picture_input({{view(bytes), numbers}}, how);
    const at::Tensor found = picture_input({{view(there), numbers.to(gpu().device())}}, how);
    EXPECT_TRUE(found.cpu().allclose(wanted, 1e-5, 1e-5)) << begin;
  }
}

TEST_F(PicturesOnGpu, RepeatToTheBitAndFollowTheirInputsInAGraph) {
  const at::Tensor pictures = drawn_pictures(4, 3, 160, 120).contiguous(channels_last);
  const at::Tensor here = pictures.to(gpu().device()),
                   numbers = at::rand({4, 3}).to(gpu().device());
  for (const auto layout : layouts) {
    PictureInput how = normalised(3);
    how.flip = true;
    how.brightness = how.contrast = 0.3;
    how.dtype = at::kBFloat16;
    how.layout = layout;
    const at::Tensor first = picture_input({{here, numbers}}, how);
    for (int repeat = 0; repeat < 3; ++repeat)
      EXPECT_TRUE(picture_input({{here, numbers}}, how).equal(first));
    at::Tensor recorded;
    const auto graph = gpu().capture([&] {
      recorded = picture_input({{here, numbers}, {here, {}}}, how);
    });
    ASSERT_NE(graph, nullptr);
    here.copy_(here.flip(0));
    numbers.copy_(1 - numbers);
    graph->replay();
    EXPECT_TRUE(recorded.equal(picture_input({{here, numbers}, {here, {}}}, how)));
  }
}

struct Convolved {
  at::Tensor y, of_weight;
};
Convolved convolved(const at::Tensor& y, const at::Tensor& weight, const at::Tensor& up) {
  return {y, torch::autograd::grad({y}, {weight}, {up})[0]};
}

TEST_F(PicturesOnGpu, ConvolutionsOverBlocksAreThoseOverPixels) {
  at::manual_seed(5);
  struct Case {
    std::int64_t channels, size, height, width, outs = 16;
  };
  // Kernels of ours serve the last five.
  for (const auto& [channels, size, height, width, outs] :
       {Case{3, 7, 64, 96}, Case{3, 7, 33, 47}, Case{4, 3, 30, 18}, Case{3, 11, 40, 41},
        Case{3, 7, 64, 96, 64}, Case{3, 7, 33, 47, 64}, Case{1, 7, 32, 32, 128},
        Case{4, 7, 200, 70, 64}, Case{2, 7, 2, 3, 64}})
    for (const auto type : types) {
      // Rounded to the type first, so that both see the same.
      const at::Tensor x = at::randn({3, channels, height, width}).to(type);
      const at::Tensor weight = at::randn({outs, channels, size, size}).to(type);
      const at::Tensor wide = weight.to(at::kDouble).requires_grad_();
      const at::Tensor plain =
          at::conv2d(x.to(at::kDouble), wide, {}, /*stride=*/2, /*padding=*/(size - 1) / 2);
      const at::Tensor up = at::randn(plain.sizes()).to(type);
      const Convolved wanted = convolved(plain, wide, up.to(at::kDouble));
      const at::Tensor here =
          weight.to(gpu().device())
              .contiguous(channels == 4 ? at::MemoryFormat::Contiguous : channels_last)
              .requires_grad_();
      const Convolved found = convolved(block_convolution(in_blocks(x.to(gpu().device())), here),
                                        here, up.to(gpu().device()).contiguous(channels_last));
      ASSERT_EQ(found.y.sizes(), wanted.y.sizes());
      EXPECT_TRUE(found.y.is_contiguous(channels_last));
      // In f32 cuDNN may round what it multiplies to TF32.
      const double near = type == at::kFloat ? 2e-3 : 2 * tolerance(type);
      expect_near(found.y.cpu(), wanted.y.detach(), near, "values");
      expect_near(found.of_weight.cpu(), wanted.of_weight, near, "gradient of the weight");
    }
}

TEST_F(PicturesOnGpu, ConvolutionsOverBlocksRepeatToTheBitAndAreDifferentiableTwice) {
  const at::Tensor blocks = in_blocks(at::randn({6, 3, 90, 70}).to(gpu().device(), at::kHalf));
  const at::Tensor weight =
      at::randn({64, 3, 7, 7}).mul(0.1).to(gpu().device(), at::kHalf).requires_grad_();
  const auto run = [&] {
    const at::Tensor y = block_convolution(blocks, weight);
    return convolved(y, weight, y.detach());
  };
  const Convolved first = run(), second = run();
  EXPECT_TRUE(first.y.equal(second.y));
  EXPECT_TRUE(first.of_weight.equal(second.of_weight));

  std::vector<at::Tensor> found;
  for (const bool by_kernels : {true, false}) {
    // Blocks that need a gradient are ATen's.
    const at::Tensor from = blocks.detach().clone().requires_grad_(!by_kernels);
    const at::Tensor y = block_convolution(from, weight).to(at::kFloat);
    const at::Tensor once =
        torch::autograd::grad({y.square().sum()}, {weight}, {}, true, /*create_graph=*/true)[0];
    found.push_back(torch::autograd::grad({once.to(at::kFloat).square().mean()}, {weight})[0]);
  }
  expect_near(found[0], found[1], 1e-2, "second derivative");
}

TEST_F(PicturesOnGpu, ConvolutionsOverBlocksCanBeRecordedInAGraph) {
  const at::Tensor pictures = drawn_pictures(4, 3, 64, 64).to(gpu().device());
  const at::Tensor weight = at::randn({64, 3, 7, 7})
                                .to(gpu().device(), at::kBFloat16)
                                .contiguous(channels_last)
                                .requires_grad_();
  const at::Tensor up = at::randn({4, 64, 32, 32}).to(gpu().device(), at::kBFloat16);
  PictureInput how = normalised(3);
  how.dtype = at::kBFloat16;
  how.layout = PictureLayout::blocks;
  const auto step = [&] {
    return convolved(block_convolution(picture_input({{pictures, {}}}, how), weight), weight, up);
  };
  step();  // makes what is made once
  Convolved recorded;
  const auto graph = gpu().capture([&] { recorded = step(); });
  ASSERT_NE(graph, nullptr);
  pictures.copy_(pictures.flip(3));
  graph->replay();
  const Convolved wanted = step();
  expect_near(recorded.y.detach().cpu(), wanted.y.detach().cpu(), 1e-3, "values");
  expect_near(recorded.of_weight.cpu(), wanted.of_weight.cpu(), 1e-2, "gradient of the weight");
}

}  // namespace
}  // namespace lockstep
