#include "ops/dropout/dropout.h"

#include "core/base/error.h"
#include "core/base/philox.h"
#include "ops/dropout/dropout_paths.h"
#include "training/recipe/recipe.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace lockstep {
namespace {

at::Tensor counters(std::int64_t seed, std::int64_t step, std::int64_t first_global_row) {
  return at::tensor({seed, step, first_global_row}, at::kLong);
}

at::Tensor values(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::linspace(-3, 5, count, at::kDouble).view(sizes).to(dtype);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.view({-1}).view(at::kByte).equal(b.view({-1}).view(at::kByte));
}

TEST(Dropout, DropsTheShareP) {
  const at::Tensor x = at::ones({64, 4096});
  for (const double p : {0.1, 0.5, 0.9}) {
    const at::Tensor y = dropout(x, p, counters(1, 2, 3), 4);
    const double dropped = y.eq(0).to(at::kDouble).mean().item<double>();
    EXPECT_NEAR(dropped, p, 5 * std::sqrt(p * (1 - p) / x.numel())) << p;
    EXPECT_NEAR(y.mean().item<double>(), 1, 0.02);
  }
}

TEST(Dropout, FollowsItsDefinitionElementByElement) {
  const std::int64_t seed = 12345, step = 17, first_global_row = 100, layer = 6;
  const double p = 0.3;
  const at::Tensor x = values({5, 3, 7});
  const at::Tensor y = dropout(x, p, counters(seed, step, first_global_row), layer);
  for (std::int64_t row = 0; row < 5; ++row)
    for (std::int64_t e = 0; e < 21; ++e) {
      const auto words = philox({static_cast<std::uint32_t>(e / 4),
                                 static_cast<std::uint32_t>(first_global_row + row), step, layer},
                                seed * 2 + 1);
      const bool keep = words[e % 4] >= p * 4294967296.0;
      const float from = x.view({5, 21})[row][e].item<float>();
      const float expected = keep ? from * static_cast<float>(1 / (1 - p)) : 0.0f;
      ASSERT_EQ((y.view({5, 21})[row][e].item<float>()), expected) << row << " " << e;
    }
}

TEST(Dropout, DependsOnNeitherRanksNorMicroBatch) {
  const at::Tensor x = values({12, 33});
  const at::Tensor whole = dropout(x, 0.4, counters(7, 8, 0), 1);
  for (const std::int64_t micro : {1, 2, 3, 4, 6}) {
    std::vector<at::Tensor> parts;
    for (std::int64_t first = 0; first < 12; first += micro)
      parts.push_back(dropout(x.narrow(0, first, micro), 0.4, counters(7, 8, first), 1));
    EXPECT_TRUE(at::cat(parts).equal(whole)) << micro;
  }
}

TEST(Dropout, DrawsAnotherMaskForAnotherSeedStepLayerOrPlace) {
  const at::Tensor x = at::ones({4, 256});
  const at::Tensor y = dropout(x, 0.5, counters(1, 1, 0), 1);
  const auto differ = [&](const at::Tensor& other) {
    const double share = y.ne(other).to(at::kDouble).mean().item<double>();
    EXPECT_GT(share, 0.4);
    EXPECT_LT(share, 0.6);
  };
  differ(dropout(x, 0.5, counters(2, 1, 0), 1));
  differ(dropout(x, 0.5, counters(1, 2, 0), 1));
  differ(dropout(x, 0.5, counters(1, 1, 4), 1));
  differ(dropout(x, 0.5, counters(1, 1, 0), 2));
}

TEST(Dropout, LoopEqualsTheReferenceBitForBit) {
  const std::vector<std::vector<std::int64_t>> shapes = {{1},         {3},        {1, 1},  {2, 3},
                                                         {3, 4},      {5, 63},    {5, 64}, {5, 65},
                                                         {2, 130, 3}, {1, 20000}, {300, 2}};
  const std::vector<at::Tensor> facts = {counters(0, 0, 0), counters(42, 1000, 999),
                                         counters(-5, 3, (std::int64_t{1} << 32) - 1),
                                         counters(std::int64_t{1} << 62, 1, 1)};
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf})
    for (const auto& shape : shapes)
      for (const at::Tensor& fact : facts)
        for (const double p : {0.0, 1e-9, 0.1, 0.5, 0.999, 1.0}) {
          const at::Tensor x = values(shape, dtype);
          const at::Tensor loop = dropout_cpu(x, p, fact, 5);
          ASSERT_EQ(loop.scalar_type(), dtype);
          ASSERT_TRUE(same_bits(loop, dropout_reference(x, p, fact, 5)))
              << dtype << " " << x.sizes() << " " << fact << " " << p;
        }
}

TEST(Dropout, GradientHasTheMaskOfTheForwardPass) {
  const at::Tensor x = values({6, 50}).requires_grad_();
  const at::Tensor y = dropout(x, 0.25, counters(3, 4, 5), 6);
  const at::Tensor weight = values({6, 50}).flip(0);
  y.mul(weight).sum().backward();
  EXPECT_TRUE(x.grad().equal(dropout(weight, 0.25, counters(3, 4, 5), 6)));
  EXPECT_TRUE(x.grad().eq(0).equal(y.eq(0).logical_or(weight.eq(0))));
}

TEST(Dropout, RefusesABackwardPassAfterTheCountersWereOverwritten) {
  const at::Tensor x = values({6, 50}).requires_grad_();
  at::Tensor fact = counters(3, 4, 5);
  const at::Tensor loss = dropout(x, 0.25, fact, 6).sum();
  fact.select(0, 1).add_(1);
  EXPECT_THROW(loss.backward(), c10::Error);
}

TEST(Dropout, Is0Where1IsAskedForEvenOfInfinity) {
  const at::Tensor x = at::full({3, 5}, INFINITY).requires_grad_();
  const at::Tensor y = dropout(x, 1, counters(1, 2, 3), 4);
  EXPECT_TRUE(y.eq(0).all().item<bool>());
  y.sum().backward();
  EXPECT_TRUE(x.grad().eq(0).all().item<bool>());
}

TEST(Dropout, TakesTensorsThatAreNotContiguous) {
  const at::Tensor x = values({8, 9, 10}).transpose(0, 2);
  const at::Tensor fact = at::tensor({1, 0, 2, 0, 3, 0}, at::kLong).view({3, 2}).select(1, 0);
  EXPECT_TRUE(dropout(x, 0.5, fact, 4).equal(dropout(x.contiguous(), 0.5, counters(1, 2, 3), 4)));
  EXPECT_TRUE(dropout_reference(x, 0.5, fact, 4).equal(dropout_cpu(x, 0.5, fact, 4)));
}

TEST(Dropout, TakesEmptyTensors) {
  EXPECT_EQ(dropout(at::empty({0, 4}), 0.5, counters(1, 2, 3), 4).numel(), 0);
  EXPECT_EQ(dropout(at::empty({4, 0}), 0.5, counters(1, 2, 3), 4).numel(), 0);
  EXPECT_EQ(dropout_reference(at::empty({4, 0}), 0.5, counters(1, 2, 3), 4).numel(), 0);
}

at::Tensor offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return at::tensor(offsets, at::kLong);
}

TEST(RaggedDropout, OfRowsOfOneLengthIsDropout) {
  for (const std::int64_t width : {1, 3, 8}) {
    const at::Tensor x = values({4, 6, width});
    const at::Tensor ragged =
        ragged_dropout(x.view({24, width}), offsets_of({6, 6, 6, 6}), 0.4, counters(1, 2, 3), 4);
    EXPECT_TRUE(ragged.view({4, 6, width}).equal(dropout(x, 0.4, counters(1, 2, 3), 4)));
  }
}

TEST(RaggedDropout, GivesARowTheMaskThatItHasAloneWhereverItLies) {
  const std::vector<std::int64_t> lengths{5, 0, 1, 13, 2};
  for (const std::int64_t width : {1, 3, 8}) {
    const at::Tensor x = values({21, width});
    const at::Tensor whole = ragged_dropout(x, offsets_of(lengths), 0.4, counters(7, 8, 100), 1);
    std::int64_t begin = 0, row = 100;
    for (const std::int64_t length : lengths) {
      const at::Tensor own = x.narrow(0, begin, length);
      const at::Tensor alone =
          ragged_dropout(own, offsets_of({length}), 0.4, counters(7, 8, row), 1);
      EXPECT_TRUE(alone.equal(whole.narrow(0, begin, length))) << row;
      // Behind a row of another length, with which it changed places.
      const at::Tensor behind =
          ragged_dropout(at::cat({values({4, width}), own}), offsets_of({4, length}), 0.4,
                         counters(7, 8, row - 1), 1);
      EXPECT_TRUE(alone.equal(behind.narrow(0, 4, length))) << row;
      begin += length;
      ++row;
    }
  }
}

TEST(RaggedDropout, LoopEqualsTheReferenceBitForBit) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf})
    for (const std::int64_t width : {1, 2, 7, 64})
      for (const double p : {0.1, 0.5, 1.0}) {
        const at::Tensor x = values({40, width}, dtype), offsets = offsets_of({3, 0, 20, 9, 0});
        const at::Tensor fact = counters(42, 1000, (std::int64_t{1} << 32) - 2);
        ASSERT_TRUE(same_bits(ragged_dropout_cpu(x, offsets, p, fact, 5),
                              ragged_dropout_reference(x, offsets, p, fact, 5)))
            << dtype << " " << width << " " << p;
      }
}

TEST(RaggedDropout, Is0BehindTheLastRowForwardAndBackward) {
  const at::Tensor x = at::ones({9, 4}).requires_grad_();
  const at::Tensor y = ragged_dropout(x, offsets_of({2, 5}), 0.25, counters(3, 4, 5), 6);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(y));
  EXPECT_TRUE(y.narrow(0, 7, 2).eq(0).all().item<bool>());
  EXPECT_TRUE(y.narrow(0, 0, 7).ne(0).any().item<bool>());
}

TEST(RaggedDropout, TakesNarrowOffsetsAndEmptyTensors) {
  const at::Tensor x = values({5, 4}), fact = counters(1, 2, 3);
  const at::Tensor y = ragged_dropout(x, offsets_of({2, 3}), 0.5, fact, 4);
  EXPECT_TRUE(ragged_dropout(x, offsets_of({2, 3}).to(at::kInt), 0.5, fact, 4).equal(y));
  EXPECT_EQ(ragged_dropout(at::empty({0, 4}), offsets_of({}), 0.5, fact, 4).numel(), 0);
  EXPECT_TRUE(ragged_dropout(x, offsets_of({}), 0.5, fact, 4).eq(0).all().item<bool>());
  EXPECT_TRUE(ragged_dropout_reference(x, offsets_of({}), 0.5, fact, 4).eq(0).all().item<bool>());
}

TEST(RaggedDropout, RefusesOffsetsThatCannotBe) {
  const at::Tensor x = values({5, 4}), fact = counters(1, 2, 3);
  for (const std::vector<std::int64_t>& bad :
       {std::vector<std::int64_t>{0, 6}, {1, 5}, {0, 4, 3}, {0, -1}})
    EXPECT_THROW(ragged_dropout(x, at::tensor(bad, at::kLong), 0.5, fact, 4), Error);
  EXPECT_THROW(ragged_dropout(x, at::ones({2}), 0.5, fact, 4), Error);
}

TEST(StepContext, DropsRaggedRowsOnlyWhileTraining) {
  const at::Tensor x = values({4, 40}), offsets = offsets_of({1, 3});
  StepContext context;
  context.counters = counters(1, 2, 3);
  EXPECT_TRUE(context.dropout(x, offsets, 0.5, 4)
                  .equal(ragged_dropout(x, offsets, 0.5, context.counters, 4)));
  context.training = false;
  EXPECT_TRUE(context.dropout(x, offsets, 0.5, 4).is_same(x));
}

TEST(StepContext, DropsOnlyWhileTraining) {
  const at::Tensor x = values({4, 40});
  StepContext context;
  context.counters = counters(1, 2, 3);
  EXPECT_TRUE(context.dropout(x, 0.5, 4).equal(dropout(x, 0.5, context.counters, 4)));
  EXPECT_TRUE(context.dropout(x, 0, 4).is_same(x));
  context.training = false;
  EXPECT_TRUE(context.dropout(x, 0.5, 4).is_same(x));
}

}  // namespace
}  // namespace lockstep
