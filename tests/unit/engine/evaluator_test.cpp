// Evaluation over ranks.
#include "engine/evaluator.h"

#include "base/error.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <mutex>

namespace lockstep {
namespace {

std::vector<Metric> run(int ranks, std::int64_t samples, std::int64_t batch) {
  std::vector<std::vector<Metric>> all;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    const testing::ToyData data(samples);
    auto metrics =
        evaluate(recipe, *model, data, group, cpu_backend(), {.seed = 1, .batch = batch}).metrics;
    const std::lock_guard lock(mutex);
    all.push_back(std::move(metrics));
  });
  for (const auto& metrics : all) EXPECT_EQ(metrics[0].value, all[0][0].value);
  return all[0];
}

TEST(Evaluate, IsTheSameOnAnyNumberOfRanks) {
  const auto one = run(1, 11, 4);
  EXPECT_EQ(one[1].value, 11);
  for (const int ranks : {2, 3, 4}) {
    const auto many = run(ranks, 11, 4);
    EXPECT_NEAR(many[0].value, one[0].value, 1e-12) << ranks;
    EXPECT_EQ(many[1].value, 11);
  }
}

TEST(Evaluate, CoversFewerSamplesThanRanks) { EXPECT_EQ(run(4, 2, 3)[1].value, 2); }

TEST(Evaluate, RefusesAnEmptySet) { EXPECT_THROW(run(1, 0, 3), Error); }

}  // namespace
}  // namespace lockstep
