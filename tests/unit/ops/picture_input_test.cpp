#include "ops/picture_input/picture_input.h"

#include "fakes/error_of.h"
#include "ops/block_convolution/block_convolution.h"
#include "ops/channels_last/channels_last.h"
#include "ops/picture_input/picture_inline.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;

at::Tensor drawn_pictures(std::int64_t count, std::int64_t channels, std::int64_t height,
                          std::int64_t width) {
  return at::randint(0, 256, {count, channels, height, width}, at::kByte);
}

// Numbers of two pictures; the second is flipped.
at::Tensor two_numbers() { return at::tensor({0.5F, 0.0F, 0.9F, 0.49F, 0.75F, 0.2F}).view({2, 3}); }

// By the words of the header, value by value, in f64.
at::Tensor pictures_by_hand(const at::Tensor& pictures, const at::Tensor& numbers,
                            const PictureInput& how) {
  const at::Tensor x = pictures.to(at::kDouble).contiguous(), y = at::empty(x.sizes(), x.options()),
                   n = numbers.to(at::kDouble);
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    const double flip = n[b][0].item<double>(),
                 bright = 1 - how.brightness + 2 * how.brightness * n[b][1].item<double>(),
                 contrast = 1 - how.contrast + 2 * how.contrast * n[b][2].item<double>();
    const double mean = x[b].mean().item<double>() * bright;
    for (std::int64_t c = 0; c < x.size(1); ++c) {
      at::Tensor plane = x[b][c];
      if (how.flip && flip < 0.5) plane = plane.flip({1});
      const auto i = static_cast<std::size_t>(c);
      y[b][c].copy_(((plane * bright - mean) * contrast + mean - how.mean[i]) * how.factor[i]);
    }
  }
  return y;
}

PictureInput all_changes(std::int64_t channels) {
  PictureInput how{.flip = true, .brightness = 0.25, .contrast = 0.5};
  for (std::int64_t c = 0; c < channels; ++c) {
    how.mean.push_back(100 + 7 * static_cast<double>(c));
    how.factor.push_back(0.01 + 0.003 * static_cast<double>(c));
  }
  return how;
}

TEST(PictureInput, FlipsBrightensRaisesContrastAndNormalises) {
  for (const std::int64_t channels : {1, 2, 3, 4})
    for (const auto format : {at::MemoryFormat::Contiguous, channels_last}) {
      const at::Tensor pictures = drawn_pictures(2, channels, 5, 7).contiguous(format);
      const PictureInput how = all_changes(channels);
      const at::Tensor found = picture_input({{pictures, two_numbers()}}, how);
      EXPECT_EQ(found.scalar_type(), at::kFloat);
      EXPECT_TRUE(found.is_contiguous(channels_last));
      EXPECT_EQ(found.suggest_memory_format(), channels_last);
      EXPECT_TRUE(at::allclose(found.to(at::kDouble),
                               pictures_by_hand(pictures, two_numbers(), how), 1e-5, 1e-5));
    }
}

TEST(PictureInput, LeavesOutWhatIsOff) {
  const at::Tensor pictures = drawn_pictures(2, 3, 5, 7);
  for (int which = 0; which < 3; ++which) {
    PictureInput how = all_changes(3);
    if (which != 0) how.flip = false;
    if (which != 1) how.brightness = 0;
    if (which != 2) how.contrast = 0;
    EXPECT_TRUE(at::allclose(picture_input({{pictures, two_numbers()}}, how).to(at::kDouble),
                             pictures_by_hand(pictures, two_numbers(), how), 1e-5, 1e-5));
    PictureInput nothing = how;
    nothing.flip = false;
    nothing.brightness = nothing.contrast = 0;
    EXPECT_TRUE(
        picture_input({{pictures, {}}}, how).equal(picture_input({{pictures, {}}}, nothing)));
  }
  EXPECT_TRUE(picture_input({{pictures, {}}}, {}).equal(pictures.to(at::kFloat)));
}

TEST(PictureInput, PutsSetsOneBehindTheOther) {
  const at::Tensor a = drawn_pictures(2, 3, 6, 5), b = drawn_pictures(3, 3, 6, 5);
  PictureInput how = all_changes(3);
  how.dtype = at::kBFloat16;
  for (const auto layout : {PictureLayout::plain, PictureLayout::blocks}) {
    how.layout = layout;
    const at::Tensor both = picture_input({{a, two_numbers()}, {b, {}}}, how);
    EXPECT_EQ(both.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(both.is_contiguous(channels_last));
    EXPECT_TRUE(both.equal(
        at::cat({picture_input({{a, two_numbers()}}, how), picture_input({{b, {}}}, how)})));
  }
}

TEST(PictureInput, RefusesOtherShapesAndTypes) {
  const at::Tensor pictures = drawn_pictures(2, 3, 4, 5);
  const auto error = [](const std::vector<PictureSet>& sets, const PictureInput& how) {
    return error_of([&] { picture_input(sets, how); });
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error({}, {}), "a set of pictures");
  has(error({{pictures.to(at::kFloat), {}}}, {}), "u8 [B, C, H, W]");
  has(error({{drawn_pictures(2, 5, 4, 5), {}}}, {}), "1 to 4 channels");
  has(error({{pictures, {}}, {drawn_pictures(2, 3, 5, 4), {}}}, {}), "of one size");
  has(error({{pictures, at::rand({2, 2})}}, {.flip = true}), "f32 [2, 3]");
  has(error({{pictures, at::rand({3, 3})}}, {.flip = true}), "f32 [2, 3]");
  has(error({{pictures, {}}}, {.mean = {1, 2}}), "each of the 3 channels");
  has(error({{pictures, {}}}, {.dtype = at::kLong}), "floating");
}

// What the kernels do, on the host.
at::Tensor as_kernels(const at::Tensor& pictures, const at::Tensor& numbers,
                      const PictureInput& how) {
  const bool last = !pictures.is_contiguous();
  const auto channels = static_cast<int>(pictures.size(1)),
             height = static_cast<int>(pictures.size(2)),
             width = static_cast<int>(pictures.size(3));
  const PictureShape shape{.channels = channels,
                           .height = height,
                           .width = width,
                           .channel_step = last ? 1 : height * width,
                           .row_step = last ? width * channels : width,
                           .column_step = last ? channels : 1};
  PictureRule rule{.flips = how.flip,
                   .changes_brightness = how.brightness > 0,
                   .changes_contrast = how.contrast > 0,
                   .brightness_low = static_cast<float>(1 - how.brightness),
                   .brightness_range = static_cast<float>(2 * how.brightness),
                   .contrast_low = static_cast<float>(1 - how.contrast),
                   .contrast_range = static_cast<float>(2 * how.contrast)};
  for (std::size_t c = 0; c < how.mean.size(); ++c) {
    rule.mean[c] = static_cast<float>(how.mean[c]);
    rule.factor[c] = static_cast<float>(how.factor[c]);
  }
  const bool blocks = how.layout == PictureLayout::blocks;
  const auto high = static_cast<int>(blocks_along(height)),
             wide = static_cast<int>(blocks_along(width));
  const at::Tensor out = blocks ? at::empty({pictures.size(0), high, wide, block_channels})
                                : at::empty({pictures.size(0), height, width, channels});
  float* to = out.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < pictures.size(0); ++row) {
    const auto* picture = pictures.const_data_ptr<std::uint8_t>() + row * channels * height * width;
    const auto mean = static_cast<float>(pictures[row].to(at::kDouble).mean().item<double>());
    const PictureChange change =
        picture_change(rule, numbers.const_data_ptr<float>() + 3 * row, mean);
    if (blocks) {
      for (int i = 0; i < 2 * high * wide; ++i, to += 8)
        picture_half_block(picture, shape, rule, change, i, to);
      continue;
    }
    for (int i = 0; i < height * width; ++i, to += channels) {
      float values[picture_most_channels];
      picture_pixel(picture, shape, rule, change, i / width, i % width, values);
      std::copy_n(values, channels, to);
    }
  }
  return out.permute({0, 3, 1, 2});
}

TEST(PictureInput, ByTheKernelsArithmeticIsAtens) {
  for (const std::int64_t channels : {1, 3, 4})
    for (const auto& [height, width] : {std::pair{1, 1}, {4, 6}, {5, 7}, {2, 9}, {7, 2}})
      for (const auto format : {at::MemoryFormat::Contiguous, channels_last})
        for (const auto layout : {PictureLayout::plain, PictureLayout::blocks})
          for (const bool changed : {false, true}) {
            PictureInput how = all_changes(channels);
            how.layout = layout;
            if (!changed) {
              how.flip = false;
              how.brightness = how.contrast = 0;
            }
            const at::Tensor pictures =
                drawn_pictures(2, channels, height, width).contiguous(format);
            const at::Tensor wanted = picture_input_reference({{pictures, two_numbers()}}, how);
            const at::Tensor found = as_kernels(pictures, two_numbers(), how);
            ASSERT_EQ(found.sizes(), wanted.sizes());
            EXPECT_TRUE(at::allclose(found, wanted, 1e-5, 1e-5))
                << channels << ", " << height << " x " << width;
            EXPECT_TRUE(found.eq(0).logical_and(wanted.ne(0)).sum().item<std::int64_t>() == 0);
          }
}

TEST(Blocks, HaveTwoByTwoPixelsThatBeginOneEarlier) {
  for (const auto& [height, width] : {std::pair{4, 6}, {5, 7}, {1, 1}, {2, 3}}) {
    const at::Tensor x = at::randn({2, 3, height, width});
    const at::Tensor blocks = in_blocks(x);
    ASSERT_EQ(blocks.sizes(),
              (std::vector<std::int64_t>{2, 16, (height + 1) / 2 + 1, (width + 1) / 2 + 1}));
    EXPECT_EQ(blocks.suggest_memory_format(), channels_last);
    for (std::int64_t i = 0; i < blocks.size(2); ++i)
      for (std::int64_t j = 0; j < blocks.size(3); ++j)
        for (std::int64_t channel = 0; channel < 16; ++channel) {
          const std::int64_t y = 2 * i - 1 + channel / 8, column = 2 * j - 1 + channel % 8 / 4,
                             c = channel % 4;
          const bool inside = y >= 0 && y < height && column >= 0 && column < width && c < 3;
          const at::Tensor value = blocks.select(1, channel).select(1, i).select(1, j);
          const at::Tensor wanted =
              inside ? x.select(1, c).select(1, y).select(1, column) : at::zeros({2});
          EXPECT_TRUE(value.equal(wanted)) << i << ", " << j << ", " << channel;
        }
  }
}

// Of one channel both layouts are the same bytes, and strides may say either.
TEST(Blocks, TakeOneChannelThatSaysChannelsLast) {
  const at::Tensor x = at::randn({2, 1, 4, 6});
  EXPECT_TRUE(in_blocks(as_channels_last(x)).equal(in_blocks(x)));
  const at::Tensor weight = at::randn({5, 1, 7, 7});
  EXPECT_TRUE(block_convolution(in_blocks(x), as_channels_last(weight))
                  .equal(block_convolution(in_blocks(x), weight)));
}

struct ConvolutionCase {
  std::int64_t channels, size, height, width;
};

class Convolutions : public ::testing::TestWithParam<ConvolutionCase> {};

// Values, the gradients of weight, bias and pictures, and second derivatives.
TEST_P(Convolutions, OverBlocksAreThoseOverPixels) {
  const ConvolutionCase test = GetParam();
  for (const auto type : {at::kDouble, at::kFloat})
    for (const auto format : {at::MemoryFormat::Contiguous, channels_last}) {
      const double near = type == at::kDouble ? 1e-12 : 1e-4;
      const at::Tensor x =
          at::randn({2, test.channels, test.height, test.width}, type).requires_grad_();
      const at::Tensor weight = at::randn({5, test.channels, test.size, test.size}, type)
                                    .contiguous(format)
                                    .requires_grad_();
      const at::Tensor bias = at::randn({5}, type).requires_grad_();
      const at::Tensor plain =
          at::conv2d(x, weight, bias, /*stride=*/2, /*padding=*/(test.size - 1) / 2);
      const at::Tensor found = block_convolution(in_blocks(x), weight, bias);
      ASSERT_EQ(found.sizes(), plain.sizes());
      EXPECT_TRUE(at::allclose(found, plain, near, near));
      const at::Tensor up = at::randn(plain.sizes(), type).requires_grad_();
      const auto gradients = [&](const at::Tensor& y) {
        return torch::autograd::grad({y}, {x, weight, bias}, {up}, true, /*create_graph=*/true);
      };
      const auto wanted = gradients(plain), own = gradients(found);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::allclose(own[i], wanted[i], near, near));
      const auto second = [&](const at::Tensor& of_weight) {
        return torch::autograd::grad({of_weight.square().sum()}, {x, up});
      };
      const auto wanted_second = second(wanted[1]), own_second = second(own[1]);
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_TRUE(at::allclose(own_second[i], wanted_second[i], near, near * 100));
    }
}

INSTANTIATE_TEST_SUITE_P(All, Convolutions,
                         ::testing::Values(ConvolutionCase{3, 7, 16, 12},
                                           ConvolutionCase{3, 7, 15, 13},
                                           ConvolutionCase{1, 7, 4, 5}, ConvolutionCase{4, 7, 6, 2},
                                           ConvolutionCase{3, 3, 10, 9},
                                           ConvolutionCase{2, 11, 14, 17}));

TEST(BlockConvolution, RefusesOtherKernelsAndOtherPictures) {
  const auto error = [](const at::Tensor& blocks, const at::Tensor& weight) {
    return error_of([&] { block_convolution(blocks, weight); });
  };
  const at::Tensor blocks = at::randn({1, 16, 5, 5});
  EXPECT_NE(error(blocks, at::randn({4, 3, 5, 5})).find("3, 7, 11"), std::string::npos);
  EXPECT_NE(error(blocks, at::randn({4, 3, 7, 3})).find("[4, 3, 7, 3]"), std::string::npos);
  EXPECT_NE(error(blocks, at::randn({4, 5, 7, 7})).find("1 to 4"), std::string::npos);
  EXPECT_NE(error(at::randn({1, 3, 8, 8}), at::randn({4, 3, 7, 7})).find("[B, 16, h, w]"),
            std::string::npos);
  EXPECT_NE(error_of([] { in_blocks(at::randn({1, 5, 8, 8})); }).find("1 to 4"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
