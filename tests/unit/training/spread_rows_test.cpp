// Samples of several rows, which lie on different ranks, and rows of different length: gradients,
// losses and records are those of one rank, also where a rank has nothing but padding.
#include "core/base/error.h"
#include "fakes/graph_backend.h"
#include "fakes/rank_parts.h"
#include "fakes/spread_recipe.h"
#include "fakes/thread_ranks.h"
#include "planning/batch/micro_batch.h"
#include "training/evaluation/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace lockstep {
namespace {

using testing::SpreadRecipe;

struct Trained {
  std::vector<at::Tensor> gradients;  // after the last step
  std::vector<double> losses;
};

Trained train_spread(int ranks, std::int64_t global, std::int64_t parts, std::int64_t limit,
                     std::int64_t steps, const std::function<void(TrainOptions&)>& change = {}) {
  Trained result;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    options.optimizer.clip = 0;
    if (change) change(options);
    SpreadRecipe recipe(5, parts);
    const BatchPlan batch = solve_batch(ranks, global, 0, 0, 0, limit, "GPU", parts);
    testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch, steps);
    std::vector<double> losses;
    for (std::int64_t step = 0; step < steps; ++step) losses.push_back(rank.step(0.1).loss);
    if (group.rank() != 0) return;
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < rank.storage.parameters().size(); ++i)
      result.gradients.push_back(rank.storage.view(rank.gradients.flat(), i).clone());
    result.losses = losses;
  });
  return result;
}

void expect_same_training(const Trained& many, const Trained& one) {
  ASSERT_EQ(many.losses.size(), one.losses.size());
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    EXPECT_NEAR(many.losses[i], one.losses[i], 1e-6 * std::abs(one.losses[i])) << "step " << i;
  for (std::size_t i = 0; i < one.gradients.size(); ++i) {
    const double norm = one.gradients[i].norm().item<double>();
    const double difference = (many.gradients[i] - one.gradients[i]).norm().item<double>();
    EXPECT_LE(difference, 1e-6 * norm) << "parameter " << i;
  }
  EXPECT_GT(one.gradients[0].norm().item<double>(), 1e-3);
}

// A sample of one step is 6 rows, or 1: fewer than the ranks.
class Spread : public ::testing::TestWithParam<std::tuple<int, int, int, int>> {};

TEST_P(Spread, HasTheGradientOfOneRank) {
  const auto [ranks, global, parts, limit] = GetParam();
  static std::map<std::pair<int, int>, Trained> on_one;
  Trained& one = on_one[{global, parts}];
  if (one.losses.empty()) one = train_spread(1, global, parts, 100, 1);
  expect_same_training(train_spread(ranks, global, parts, limit, 1), one);
}

INSTANTIATE_TEST_SUITE_P(RanksBatchRowsMicro, Spread,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(1, 2, 12), ::testing::Values(1, 6, 7),
                                            ::testing::Values(2, 100)));

TEST(SpreadRows, TrainAlikeOverEpochsWithGroupsAndShuffle) {
  const auto grouped = [](TrainOptions& options) { options.data.group_by_length = true; };
  for (const auto& change : {std::function<void(TrainOptions&)>(), {grouped}}) {
    const Trained one = train_spread(1, 2, 6, 100, 7, change);
    for (const int ranks : {2, 4})
      expect_same_training(train_spread(ranks, 2, 6, 2, 7, change), one);
  }
}

// Six leaves of one row each.
TEST(SpreadRows, HaveBitwiseTheSameGradientInExactMode) {
  const auto exact = [](TrainOptions& options) { options.exact = true; };
  const Trained one = train_spread(1, 1, 6, 1, 3, exact);
  for (const int ranks : {2, 3, 6}) {
    const Trained many = train_spread(ranks, 1, 6, 1, 3, exact);
    EXPECT_EQ(many.losses, one.losses);
    for (std::size_t i = 0; i < one.gradients.size(); ++i)
      EXPECT_TRUE(many.gradients[i].equal(one.gradients[i])) << ranks << " ranks, parameter " << i;
  }
}

TEST(SpreadRows, AreEvaluatedInOrderOnAnyNumberOfRanks) {
  const auto evaluated = [](int ranks, std::int64_t batch) {
    std::vector<Metric> metrics;
    std::mutex mutex;
    testing::with_ranks(ranks, [&](ProcessGroup& group) {
      SpreadRecipe recipe(3, 4);
      const auto model = recipe.build(1);
      const Evaluation result = evaluate(recipe, *model, *recipe.data().valid, group, cpu_backend(),
                                         {.seed = 1, .batch = batch});
      const std::lock_guard lock(mutex);
      metrics = result.metrics;
    });
    return metrics;
  };
  const auto one = evaluated(1, 12);
  EXPECT_EQ(one[1].value, 12);
  for (const int ranks : {1, 2, 3, 4, 5})
    for (const std::int64_t batch : {1, 5, 20}) {
      const auto many = evaluated(ranks, batch);
      EXPECT_NEAR(many[0].value, one[0].value, 1e-4);
      EXPECT_EQ(many[1].value, 12);
      EXPECT_EQ(many[2].value, 1) << ranks << " ranks in batches of " << batch;
    }
}

// Records as a GPU does: the work is done once meanwhile.
class RecordingBackend : public testing::GraphBackend {
 public:
  std::unique_ptr<Graph> capture(const std::function<void()>& work) override {
    const at::AutoGradMode as_recorded(true);
    work();
    return GraphBackend::capture(work);
  }
};

TEST(HostFields, ReadByALossKeepTheStepOutOfAGraphWithAClearWord) {
  ProcessGroup group{World{}, cpu_backend()};
  TrainOptions options;
  options.precision = Precision::fp32;
  SpreadRecipe recipe(8, 1);
  recipe.reads_host = true;
  RecordingBackend backend;
  // Lengths vary by sample, but not over the whole of the data.
  testing::LoadingRank rank(options, recipe, group, backend,
                            {.world_size = 1, .micro = 8, .accumulation = 1, .global = 8}, 8);
  for (int step = 0; step < 6; ++step) EXPECT_FALSE(rank.step().dropped);
  const auto news = rank.runner.take_graph_news();
  ASSERT_TRUE(news.has_value());
  EXPECT_FALSE(news->captured);
  EXPECT_EQ(
      news->why_not,
      "the loss reads Batch::host(), which a CUDA graph would repeat as it was in the captured "
      "step");
}

class Weighing : public testing::ToyRecipe {
 public:
  std::vector<double> loss_weights(const Batch& batch) const override { return weights; }
  std::vector<double> weights;
};

TEST(LossWeights, ThatCannotBeAreRefusedWithTheirTerm) {
  const auto said = [](std::vector<double> weights) -> std::string {
    ProcessGroup group{World{}, cpu_backend()};
    TrainOptions options;
    options.precision = Precision::fp32;
    Weighing recipe;
    recipe.weights = std::move(weights);
    testing::LoadingRank rank(options, recipe, group, cpu_backend(),
                              {.world_size = 1, .micro = 4, .accumulation = 1, .global = 4}, 2);
    try {
      rank.step();
    } catch (const Error& error) {
      EXPECT_NE(error.hint(), "");
      return error.what();
    }
    return "";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(said({1, 1}), "");
  EXPECT_EQ(said({0, 1}), "");
  const std::string rest = " of the loss must be 0 or more and known from the batch, but is ";
  EXPECT_EQ(said({1, nan}), "the weight of the term rows" + rest + "nan");
  EXPECT_EQ(said({-2, 1}), "the weight of the term elements" + rest + "-2");
  EXPECT_EQ(said({1, std::numeric_limits<double>::infinity()}),
            "the weight of the term rows" + rest + "inf");
  EXPECT_EQ(
      said({1}),
      "loss_weights must give a weight for each of the loss's terms (elements, rows), but gave "
      "1");
}

}  // namespace
}  // namespace lockstep
