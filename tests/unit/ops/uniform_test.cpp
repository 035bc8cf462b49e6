#include "ops/uniform/uniform.h"

#include "core/base/philox.h"
#include "fakes/error_of.h"
#include "ops/dropout/dropout.h"
#include "training/recipe/recipe.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/corrcoef.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

at::Tensor facts(std::int64_t seed, std::int64_t step, std::int64_t first_global_row) {
  return at::tensor({seed, step, first_global_row}, at::kLong);
}

TEST(Uniform, IsTheNumberOfItsDefinition) {
  const at::Tensor numbers = uniform(3, 6, facts(42, 1000, 5), 7);
  ASSERT_EQ(numbers.sizes(), at::IntArrayRef({3, 6}));
  ASSERT_EQ(numbers.scalar_type(), at::kFloat);
  for (std::uint32_t row = 0; row < 3; ++row)
    for (std::uint32_t e = 0; e < 6; ++e) {
      const std::uint32_t word = philox({e / 4, 5 + row, 1000, 7}, 84)[e % 4];
      EXPECT_EQ(numbers[row][e].item<float>(), std::ldexp(static_cast<float>(word >> 8), -24));
    }
}

TEST(Uniform, LoopEqualsTheReferenceBitForBit) {
  for (const at::Tensor& known : {facts(0, 0, 0), facts(42, 1000, (std::int64_t{1} << 32) - 1),
                                  facts(-5, 7, 3), facts(std::int64_t{1} << 62, 1, 1)})
    for (const std::int64_t n : {0, 1, 3, 4, 127, 128, 129, 1000})
      EXPECT_TRUE(uniform(5, n, known, 9).equal(uniform_reference(5, n, known, 9))) << n;
}

TEST(Uniform, OfARowDoesNotDependOnTheMicroBatchThatHoldsIt) {
  const at::Tensor whole = uniform(12, 5, facts(1, 2, 30), 3);
  const at::Tensor parts =
      at::cat({uniform(5, 5, facts(1, 2, 30), 3), uniform(7, 5, facts(1, 2, 35), 3)});
  EXPECT_TRUE(whole.equal(parts));
}

TEST(Uniform, IsSpreadOverZeroToOneAndDiffersBySeedStepLayerAndRow) {
  const at::Tensor numbers = uniform(100, 1000, facts(1, 2, 3), 4);
  EXPECT_GE(numbers.min().item<float>(), 0);
  EXPECT_LT(numbers.max().item<float>(), 1);
  EXPECT_NEAR(numbers.mean().item<double>(), 0.5, 0.005);
  EXPECT_NEAR(numbers.var().item<double>(), 1.0 / 12, 0.002);
  for (const at::Tensor& other :
       {uniform(100, 1000, facts(2, 2, 3), 4), uniform(100, 1000, facts(1, 3, 3), 4),
        uniform(100, 1000, facts(1, 2, 103), 4), uniform(100, 1000, facts(1, 2, 3), 5)}) {
    const at::Tensor both = at::stack({numbers.flatten(), other.flatten()});
    EXPECT_NEAR(at::corrcoef(both)[0][1].item<double>(), 0, 0.015);
  }
}

// With the same seed, step, layer and rows, whether an element is dropped says nothing of its
// number.
TEST(Uniform, SharesNoStreamWithDropout) {
  const at::Tensor numbers = uniform(100, 1000, facts(1, 2, 3), 4);
  const at::Tensor kept = dropout(at::ones({100, 1000}), 0.5, facts(1, 2, 3), 4).gt(0);
  const at::Tensor both = at::stack({numbers.flatten(), kept.flatten().to(at::kFloat)});
  EXPECT_NEAR(at::corrcoef(both)[0][1].item<double>(), 0, 0.015);
  // Nor do neighbouring seeds: one's key plus 1 is not the other's.
  for (const std::int64_t seed : {0, 2}) {
    const at::Tensor other = dropout(at::ones({100, 1000}), 0.5, facts(seed, 2, 3), 4).gt(0);
    const at::Tensor pair = at::stack({numbers.flatten(), other.flatten().to(at::kFloat)});
    EXPECT_NEAR(at::corrcoef(pair)[0][1].item<double>(), 0, 0.015);
  }
}

TEST(StepContext, DrawsUniformNumbersWhileTraining) {
  StepContext context;
  context.counters = facts(1, 2, 3);
  EXPECT_TRUE(context.uniform(4, 2, 9).equal(uniform(4, 2, context.counters, 9)));
  context.training = false;
  EXPECT_NE(error_of([&] { context.uniform(4, 2, 9); }).find("StepContext::uniform"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
