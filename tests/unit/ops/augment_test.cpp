#include "ops/augment/augment.h"

#include "fakes/error_of.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(FlipRows, TurnsEachRowByItsOwnNumbers) {
  const at::Tensor x = at::arange(4 * 2 * 3 * 5).view({4, 2, 3, 5});
  const at::Tensor numbers = at::tensor({0.9, 0.9, 0.1, 0.9, 0.9, 0.1, 0.49, 0.0}).view({4, 2});
  const at::Tensor y = flip_rows(x, {2, 3}, numbers);
  EXPECT_TRUE(y[0].equal(x[0]));
  EXPECT_TRUE(y[1].equal(x[1].flip({1})));
  EXPECT_TRUE(y[2].equal(x[2].flip({2})));
  EXPECT_TRUE(y[3].equal(x[3].flip({1, 2})));
  EXPECT_EQ(y.scalar_type(), at::kLong);
}

TEST(FlipRows, KeepsChannelsLast) {
  const at::Tensor numbers = at::tensor({0.1, 0.9, 0.1, 0.1, 0.9, 0.1}).view({2, 3});
  const at::Tensor image = at::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(flip_rows(image, {2, 3}, numbers).is_contiguous(at::MemoryFormat::ChannelsLast));
  for (const auto type : {at::kFloat, at::kBFloat16, at::kByte}) {
    const at::Tensor volume =
        at::randn({2, 3, 4, 5, 6}).to(type).contiguous(at::MemoryFormat::ChannelsLast3d);
    EXPECT_TRUE(
        flip_rows(volume, {2, 3, 4}, numbers).is_contiguous(at::MemoryFormat::ChannelsLast3d));
  }
}

TEST(FlipRows, PassesGradientsTheWayBack) {
  const at::Tensor x = at::randn({2, 3}).requires_grad_(), up = at::randn({2, 3});
  const at::Tensor numbers = at::tensor({0.1, 0.9}).view({2, 1});
  (flip_rows(x, {1}, numbers) * up).sum().backward();
  EXPECT_TRUE(x.grad().equal(flip_rows(up, {1}, numbers)));
}

TEST(FlipRows, RefusesTheBatchsAxisAndTooFewNumbers) {
  const at::Tensor x = at::randn({2, 3, 4}), numbers = at::randn({2, 1});
  EXPECT_NE(error_of([&] { flip_rows(x, {0}, numbers); }).find("axis 0"), std::string::npos);
  EXPECT_NE(error_of([&] { flip_rows(x, {3}, numbers); }).find("axes are 1 to 2"),
            std::string::npos);
  EXPECT_NE(error_of([&] { flip_rows(x, {1, 2}, numbers); }).find("[2, 2]"), std::string::npos);
}

TEST(Between, SpansTheRange) {
  EXPECT_TRUE(at::allclose(between(at::tensor({0.0, 0.5}), -2, 4), at::tensor({-2.0, 1.0})));
}

TEST(Brightness, MultipliesEachRow) {
  const at::Tensor x = at::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor y = scale_brightness(x, at::tensor({0.5, 2.0}));
  EXPECT_TRUE(y[0].equal(x[0] * 0.5));
  EXPECT_TRUE(y[1].equal(x[1] * 2));
  EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor low = scale_brightness(x.to(at::kBFloat16), at::tensor({0.5, 2.0}));
  EXPECT_EQ(low.scalar_type(), at::kBFloat16);
}

TEST(Contrast, KeepsTheMeanAndMultipliesTheDistance) {
  const at::Tensor x = at::randn({2, 3, 4, 5, 6}).contiguous(at::MemoryFormat::ChannelsLast3d);
  const at::Tensor y = scale_contrast(x, at::tensor({0.5, 3.0}));
  for (std::int64_t row = 0; row < 2; ++row) {
    EXPECT_NEAR(y[row].mean().item<double>(), x[row].mean().item<double>(), 1e-5);
    EXPECT_NEAR(y[row].std().item<double>() / x[row].std().item<double>(), row == 0 ? 0.5 : 3,
                1e-4);
  }
  EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast3d));
}

TEST(BrightnessAndContrast, RefuseWholeNumbersAndAnotherNumberOfFactors) {
  const at::Tensor x = at::randn({2, 3});
  EXPECT_NE(error_of([&] {
              scale_contrast(x.to(at::kByte), at::tensor({1.0, 1.0}));
            }).find("compute_dtype"),
            std::string::npos);
  EXPECT_NE(error_of([&] { scale_brightness(x, at::tensor({1.0})); }).find("each of the 2 rows"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
