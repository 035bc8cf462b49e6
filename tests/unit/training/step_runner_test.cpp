// Buffers are part of a step, and steps of other shapes run beside the graph on all ranks.
#include "training/step/step_runner.h"

#include "fakes/error_of.h"
#include "fakes/graph_backend.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

namespace lockstep {
namespace {

constexpr std::int64_t micro = 4;

BatchPlan batch_of(int ranks, std::int64_t accumulation = 1) {
  return {.world_size = ranks,
          .micro = micro,
          .accumulation = accumulation,
          .global = ranks * accumulation * micro};
}

// The toy with a running mean of what it sees and a count of batches, as batch norm keeps them.
class CountingModel : public testing::ToyModel {
 public:
  using ToyModel::ToyModel;
  std::vector<NamedTensor> buffers() override { return {{"mean", mean}, {"batches", batches}}; }
  at::Tensor mean = at::zeros({5}), batches = at::zeros({}, at::kLong);
};

class CountingRecipe : public testing::ToyRecipe {
 public:
  using ToyRecipe::ToyRecipe;
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<CountingModel>(seed);
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    auto& counting = dynamic_cast<CountingModel&>(model);
    const at::NoGradGuard no_grad;
    counting.mean.mul_(0.9).add_(batch.tensors[0].mean(0), 0.1);
    counting.batches.add_(1);
    ++forwards;
    if (forwards == poisoned) counting.mean.fill_(std::numeric_limits<float>::quiet_NaN());
    at::AutoGradMode grad(true);
    std::vector<at::Tensor> sums = ToyRecipe::loss(model, batch, context);
    if (forwards == poisoned) sums[0] = sums[0] * std::numeric_limits<float>::quiet_NaN();
    return sums;
  }
  int forwards = 0, poisoned = 0;  // the forward pass that is not finite, from 1
};

class Alone : public ::testing::Test {
 protected:
  Alone() { options.precision = Precision::fp32; }
  ProcessGroup group{World{}, cpu_backend()};
  TrainOptions options;
};

TEST_F(Alone, AStepThatIsNotFiniteLeavesBuffersAsTheyWere) {
  CountingRecipe recipe, clean;
  recipe.poisoned = 3;
  testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(1), 6);
  testing::LoadingRank same(options, clean, group, cpu_backend(), batch_of(1), 2);
  rank.step();
  rank.step();
  same.step();
  same.step();
  EXPECT_TRUE(rank.step().not_finite);
  EXPECT_TRUE(rank.step().dropped);  // enqueued behind it: it counts for nothing either
  auto& model = dynamic_cast<CountingModel&>(*rank.model);
  EXPECT_EQ(model.batches.item<std::int64_t>(), 2);
  EXPECT_TRUE(model.mean.equal(dynamic_cast<CountingModel&>(*same.model).mean));
  EXPECT_EQ(rank.buffers.not_finite(), "");
}

TEST_F(Alone, LookingForWhatIsNotFiniteLeavesBuffersAsTheyWere) {
  CountingRecipe recipe;
  recipe.poisoned = 3;
  testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(1), 6);
  rank.step();
  rank.step();
  rank.runner.reset_after_drop();
  const NotFinite found = rank.runner.find_not_finite(rank.runner.stage(rank.loader.next()));
  EXPECT_EQ(found.tensor, "the term elements of the loss");
  EXPECT_EQ(dynamic_cast<CountingModel&>(*rank.model).batches.item<std::int64_t>(), 2);
  EXPECT_EQ(rank.buffers.not_finite(), "");
}

TEST_F(Alone, TheAverageOfTheWeightsHasItsOwnBuffers) {
  options.ema.decay = 0.5;
  CountingRecipe recipe;
  testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(1), 6);
  auto& model = dynamic_cast<CountingModel&>(*rank.model);
  at::Tensor expected = model.mean.clone();
  // After update n the average goes max(1 - decay, 9 / (10 + n)) of the way.
  for (int update = 1; update <= 3; ++update) {
    rank.step();
    expected.lerp_(model.mean, std::max(0.5, 9.0 / (10 + update)));
  }
  const at::Tensor own = model.mean.clone();
  ASSERT_FALSE(own.equal(expected));
  {
    ShownAverage shown(rank.optimizer.average());
    EXPECT_TRUE(model.mean.allclose(expected, 1e-6, 1e-7));
    EXPECT_EQ(model.batches.item<std::int64_t>(), 3);  // a count has no average
    shown.end();
  }
  EXPECT_TRUE(model.mean.equal(own));
  // A checkpoint may be saved after an evaluation that failed: it needs the model's own.
  try {
    const ShownAverage shown(rank.optimizer.average());
    throw std::runtime_error("an evaluation failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(model.mean.equal(own));
  const std::vector<NamedTensor> named = rank.optimizer.average()->buffers();
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].name, "mean");
  EXPECT_TRUE(named[0].tensor.allclose(expected, 1e-6, 1e-7));
}

TEST(Buffers, AreThoseOfRank0OrTheMean) {
  testing::with_ranks(2, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    CountingRecipe recipe;
    testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(2), 1);
    auto& model = dynamic_cast<CountingModel&>(*rank.model);
    model.mean.fill_(group.rank() + 1);
    model.batches.fill_(group.rank() + 1);
    rank.buffers.share(group, /*mean=*/true);
    EXPECT_TRUE(model.mean.eq(1.5).all().item<bool>());
    EXPECT_EQ(model.batches.item<std::int64_t>(), 1);  // a count has no mean
    model.mean.fill_(group.rank() + 1);
    rank.buffers.share(group, /*mean=*/false);
    EXPECT_TRUE(model.mean.eq(1).all().item<bool>());
  });
}

TEST(Buffers, TellWhetherABatchNormIsOfTorchsOwn) {
  const at::Tensor any = at::ones({1});
  EXPECT_EQ(torch_batch_norm({{"a.running_mean", any}, {"a.running_var", any}}), "");
  EXPECT_EQ(torch_batch_norm({{"a.running_mean", any}, {"b.c.num_batches_tracked", any}}), "b.c");
  EXPECT_EQ(torch_batch_norm({{"num_batches_tracked", any}}), "the model");
}

TEST_F(Alone, NamesABufferThatIsNotFinite) {
  CountingRecipe recipe;
  testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(1), 6);
  dynamic_cast<CountingModel&>(*rank.model).mean[2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rank.buffers.not_finite(), "mean");
}

TEST_F(Alone, ABufferThatTheModelReplacedIsAnError) {
  CountingRecipe recipe;
  testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(1), 6);
  rank.buffers.require_in_place(rank.model->buffers());
  dynamic_cast<CountingModel&>(*rank.model).mean = at::zeros({5});
  EXPECT_THROW(rank.buffers.require_in_place(rank.model->buffers()), std::exception);
}

TEST_F(Alone, ARecordingThatFailsSaysWhyInOneLine) {
  testing::ToyRecipe recipe;
  testing::GraphBackend backend;
  backend.fails = true;
  testing::LoadingRank rank(options, recipe, group, backend, batch_of(1), 6);
  for (int step = 0; step < 5; ++step) rank.step();
  const auto news = rank.runner.take_graph_news();
  ASSERT_TRUE(news.has_value());
  EXPECT_FALSE(news->captured);
  EXPECT_EQ(news->why_not, "operation not permitted when stream is capturing");
  rank.step();
  EXPECT_FALSE(rank.runner.take_graph_news().has_value());
}

// Logs the mean of each row's first input.
class LoggingRecipe : public testing::ToyRecipe {
 public:
  std::vector<std::string> logged() const override { return {"other", "first_input"}; }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    context.log(name, batch.tensors[0].select(1, 0).sum(), batch.row_weight.sum());
    return ToyRecipe::loss(model, batch, context);
  }
  std::string name = "first_input";
};

TEST(LoggedNumbers, AreMeansOverRanksAndMicroBatches) {
  std::mutex mutex;
  std::vector<double> means;
  for (const int ranks : {1, 2, 4})
    testing::with_ranks(ranks, [&](ProcessGroup& group) {
      TrainOptions options;
      options.precision = Precision::fp32;
      LoggingRecipe recipe;
      const BatchPlan batch{
          .world_size = ranks, .micro = 2, .accumulation = 4 / ranks, .global = 8};
      testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch, 2);
      rank.step();
      const StepResult second = rank.step();
      ASSERT_EQ(second.logged.size(), 2U);
      EXPECT_TRUE(std::isnan(second.logged[0]));
      const std::lock_guard lock(mutex);
      means.push_back(second.logged[1]);
    });
  ASSERT_EQ(means.size(), 7U);
  EXPECT_NE(means[0], 0);
  for (const double mean : means) EXPECT_NEAR(mean, means[0], 1e-7);
}

// The toy with batch norm of what it reads.
struct NormedModel : testing::ToyModel {
  using ToyModel::ToyModel;
  std::vector<NamedTensor> buffers() override { return {{"mean", mean}, {"variance", variance}}; }
  at::Tensor mean = at::zeros({5}), variance = at::ones({5});
};

struct NormedRecipe : testing::ToyRecipe {
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<NormedModel>(seed);
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const auto& normed = dynamic_cast<NormedModel&>(model);
    Batch other = batch;
    other.tensors[0] = context.batch_norm(
        batch.tensors[0], {.running_mean = normed.mean, .running_var = normed.variance});
    return ToyRecipe::loss(model, other, context);
  }
};

// Has no memory for the data of a step.
struct WithoutMemory : testing::ForwardingBackend {
  bool short_of_memory = false;
  std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) override {
    const bool is_data = host.size() > 3;
    TORCH_CHECK_WITH(OutOfMemoryError, !is_data || !short_of_memory, "out of memory");
    return cpu_backend().upload(std::move(host));
  }
};

TEST(Statistics, OfAllRanksAreNotWaitedForWhereOneHasNoMemoryForItsData) {
  TrainOptions options;
  options.precision = Precision::fp32;
  options.norm.statistics = NormStatistics::sync;
  std::string said;
  const auto body = [&](ProcessGroup& group) {
    NormedRecipe recipe;
    WithoutMemory backend;
    testing::LoadingRank rank(options, recipe, group, backend, batch_of(2), 2);
    rank.step();
    backend.short_of_memory = group.rank() == 1;
    try {
      rank.step();
    } catch (const Error& error) {
      if (group.rank() == 1) said = error.what();
      throw;
    }
  };
  EXPECT_ANY_THROW(testing::with_ranks(2, body));
  EXPECT_THAT(said,
              ::testing::HasSubstr("out of memory in data, and the micro-batch cannot shrink"));
}

TEST_F(Alone, ANumberThatIsLoggedMustBeDeclared) {
  LoggingRecipe recipe;
  recipe.name = "frist_input";
  testing::LoadingRank rank(options, recipe, group, cpu_backend(), batch_of(1), 6);
  EXPECT_THAT(error_of([&] { rank.step(); }), ::testing::HasSubstr("first_input"));
}

// Each row has so many ones as its step says, which may differ from rank to rank.
using OnesOfStep = std::function<std::int64_t(std::int64_t step)>;

class OfSomeShapes : public testing::ToyRecipe {
 public:
  explicit OfSomeShapes(OnesOfStep ones) : ones_(std::move(ones)) {}
  DatasetPair data() override {
    class Data : public testing::ToyData {
     public:
      explicit Data(OnesOfStep ones) : ToyData(64), ones_(std::move(ones)) {}
      std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
        std::vector<at::Tensor> fields = ToyData::get(index, context);
        fields.push_back(at::ones({ones_(context.step)}));
        return fields;
      }

     private:
      OnesOfStep ones_;
    };
    const auto data = std::make_shared<Data>(ones_);
    return {data, data};
  }

 private:
  OnesOfStep ones_;
};

struct GraphRun {
  std::vector<double> losses;
  std::vector<int> captures{0, 0}, replayed{0, 0};  // by rank
  GraphCounts counts;                               // of rank 0
  std::vector<GraphState> news;                     // of rank 0
};

// ones: of (rank, step).
GraphRun run_with_graphs(GraphMode mode, const std::function<std::int64_t(int, std::int64_t)>& ones,
                         std::int64_t graph_shapes = 8, int steps = 10) {
  GraphRun run;
  std::mutex mutex;
  testing::with_ranks(2, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    options.graph = mode;
    options.graph_shapes = graph_shapes;
    OfSomeShapes recipe([&](std::int64_t step) { return ones(group.rank(), step); });
    testing::GraphBackend backend;
    testing::LoadingRank rank(options, recipe, group, backend, batch_of(2), steps);
    GraphRun own;
    for (int step = 0; step < steps; ++step) {
      own.losses.push_back(rank.step().loss);
      if (const auto news = rank.runner.take_graph_news()) own.news.push_back(*news);
    }
    const std::lock_guard lock(mutex);
    run.captures[static_cast<std::size_t>(group.rank())] = backend.captured;
    run.replayed[static_cast<std::size_t>(group.rank())] = backend.replayed;
    if (group.rank() != 0) return;
    run.losses = own.losses;
    run.news = own.news;
    run.counts = rank.runner.graph_counts();
  });
  return run;
}

TEST(GraphsOfSteps, LeaveAStepOfAnotherShapeToAllRanksTogether) {
  const auto once = [](int rank, std::int64_t step) { return rank == 1 && step == 6 ? 9 : 2; };
  const GraphRun plain = run_with_graphs(GraphMode::off, once);
  EXPECT_EQ(plain.replayed, (std::vector<int>{0, 0}));
  const GraphRun run = run_with_graphs(GraphMode::automatic, once);
  EXPECT_EQ(run.losses, plain.losses);
  // Of ten steps three warm up, and the seventh has another shape on rank 1 alone.
  EXPECT_EQ(run.replayed, (std::vector<int>{6, 6}));
  EXPECT_EQ(run.counts.by_graph, 6);
  EXPECT_EQ(run.counts.eager, 4);
}

TEST(GraphsOfSteps, RecordEachShapeTheSecondTimeThatItComes) {
  // Steps 0, 3, 6 … have one shape; the others another, on rank 1 alone.
  const auto two = [](int rank, std::int64_t step) { return rank == 1 && step % 3 != 0 ? 9 : 2; };
  const GraphRun plain = run_with_graphs(GraphMode::off, two);
  const GraphRun run = run_with_graphs(GraphMode::automatic, two);
  EXPECT_EQ(run.losses, plain.losses);
  EXPECT_EQ(run.captures, (std::vector<int>{2, 2}));
  EXPECT_EQ(run.counts.shapes, 2);
  EXPECT_EQ(run.counts.by_graph, 7);
  ASSERT_EQ(run.news.size(), 2U);
  EXPECT_EQ(run.news[0].shapes, 1);
  EXPECT_EQ(run.news[1].shapes, 2);
}

TEST(GraphsOfSteps, AreNoMoreThanAsked) {
  const auto two = [](int /*rank*/, std::int64_t step) { return step % 2 == 0 ? 9 : 2; };
  const GraphRun run = run_with_graphs(GraphMode::automatic, two, 1);
  EXPECT_EQ(run.captures, (std::vector<int>{1, 1}));
  EXPECT_EQ(run.counts.shapes, 1);
  EXPECT_EQ(run.counts.eager, 6);  // three warm up, and each other step after the fourth
}

TEST_F(Alone, AGraphThatIsRecordedAgainAfterARepairCountsAsOneShape) {
  OfSomeShapes recipe([](std::int64_t) { return 2; });
  testing::GraphBackend backend;
  testing::LoadingRank rank(options, recipe, group, backend, batch_of(1), 12);
  for (int step = 0; step < 6; ++step) rank.step();
  rank.runner.reset_after_drop();
  for (int step = 0; step < 6; ++step) rank.step();
  EXPECT_EQ(backend.captured, 2);
  EXPECT_EQ(rank.runner.graph_counts().shapes, 1);
}

TEST(GraphsOfSteps, SayThatNoShapeComesAgain) {
  const auto others = [](int /*rank*/, std::int64_t step) { return step + 1; };
  const GraphRun run = run_with_graphs(GraphMode::automatic, others, 8, 101);
  EXPECT_EQ(run.captures, (std::vector<int>{0, 0}));
  ASSERT_EQ(run.news.size(), 1U);
  EXPECT_EQ(run.news[0].why_not, "no two of the first 100 steps had data of the same shapes");
}

}  // namespace
}  // namespace lockstep
