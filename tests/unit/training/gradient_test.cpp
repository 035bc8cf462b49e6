// The gradient of any ranks x accumulation is that of one big batch.
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <mutex>
#include <tuple>

namespace lockstep {
namespace {

constexpr std::int64_t global_batch = 48;
constexpr std::int64_t samples = 40;  // fewer than the batch: the step has padding rows

// The gradient after one step of the toy, by parameter.
std::vector<at::Tensor> gradients(int ranks, std::int64_t accumulation, double dropout,
                                  Precision precision = Precision::fp32, bool exact = false) {
  std::vector<at::Tensor> result;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = precision;
    options.optimizer.clip = 0;
    options.exact = exact;
    testing::ToyRecipe recipe(samples, 3, dropout);
    testing::LoadingRank rank(options, recipe, group, cpu_backend(),
                              {.world_size = ranks,
                               .micro = global_batch / ranks / accumulation,
                               .accumulation = accumulation,
                               .global = global_batch},
                              /*steps=*/1);
    rank.step(/*lr=*/0);
    const ParameterStorage& storage = rank.storage;
    const GradientBuffers& gradients = rank.gradients;
    if (group.rank() != 0) return;
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      result.push_back(storage.view(gradients.flat(), i).clone());
  });
  return result;
}

double relative(const at::Tensor& a, const at::Tensor& b) {
  const double norm = b.norm().item<double>();
  const double difference = (a - b).norm().item<double>();
  return norm == 0 ? difference : difference / norm;
}

class SameGradient : public ::testing::TestWithParam<std::tuple<int, int, double>> {};

TEST_P(SameGradient, AsOneBatchToOneMillionthOfEachTensorsNorm) {
  const auto [ranks, accumulation, dropout] = GetParam();
  const auto one = gradients(1, 1, dropout);
  const auto many = gradients(ranks, accumulation, dropout);
  ASSERT_EQ(one.size(), 5U);
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_LE(relative(many[i], one[i]), 1e-6) << "parameter " << i;
  EXPECT_GT(one[0].norm().item<double>(), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(RanksTimesAccumulation, SameGradient,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(1, 2, 4),
                                            ::testing::Values(0.0, 0.25)));

TEST(Gradient, IsZeroWhereNoGradientArrived) {
  const auto result = gradients(2, 2, 0);
  EXPECT_EQ(result[4].abs().sum().item<double>(), 0);
}

TEST(Gradient, InLowPrecisionIsCloseToFp32) {
  const auto exact = gradients(1, 1, 0);
  const auto half = gradients(2, 2, 0, Precision::bf16);
  EXPECT_LE(relative(half[0], exact[0]), 0.05);
  EXPECT_GT(relative(half[0], exact[0]), 0);
}

// 24 leaves of two samples, on ranks that all have the same number of them.
class ExactGradient : public ::testing::TestWithParam<std::tuple<int, Precision>> {};

TEST_P(ExactGradient, IsTheSameToTheBitOnAnyNumberOfRanks) {
  const auto [ranks, precision] = GetParam();
  const auto one = gradients(1, 24, 0.25, precision, true);
  const auto many = gradients(ranks, 24 / ranks, 0.25, precision, true);
  ASSERT_EQ(many.size(), one.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(many[i].equal(one[i])) << "parameter " << i;
  const auto usual = gradients(1, 24, 0.25, precision);
  EXPECT_LE(relative(one[0], usual[0]), precision == Precision::fp32 ? 1e-6 : 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExactGradient,
                         ::testing::Combine(::testing::Values(2, 3, 4, 6, 8, 12),
                                            ::testing::Values(Precision::fp32, Precision::bf16)));

}  // namespace
}  // namespace lockstep
