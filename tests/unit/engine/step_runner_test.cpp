// Buffers are part of a step, and steps of other shapes run beside the graph on all ranks.
#include "engine/step_runner.h"

#include "fakes/graph_backend.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <limits>
#include <mutex>

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
    const ShownAverage shown(rank.optimizer.average());
    EXPECT_TRUE(model.mean.allclose(expected, 1e-6, 1e-7));
    EXPECT_EQ(model.batches.item<std::int64_t>(), 3);  // a count has no average
  }
  EXPECT_TRUE(model.mean.equal(own));
  const std::vector<NamedTensor> named = rank.optimizer.average()->buffers();
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].name, "mean");
  EXPECT_TRUE(named[0].tensor.allclose(expected, 1e-6, 1e-7));
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
  ASSERT_TRUE(rank.runner.graph_state().has_value());
  EXPECT_FALSE(rank.runner.graph_state()->captured);
  EXPECT_EQ(rank.runner.graph_state()->why_not, "operation not permitted when stream is capturing");
}

// Each row has some ones, and more of them in one step of one rank, as text that is not cut has.
class LongerOnce : public testing::ToyRecipe {
 public:
  // step, rank: where the data have another shape.
  LongerOnce(std::int64_t step, int rank, int of_rank) : longer_(step), is_rank_(rank == of_rank) {}
  DatasetPair data() override {
    class Data : public testing::ToyData {
     public:
      Data(std::int64_t longer) : ToyData(64), longer_(longer) {}
      std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
        std::vector<at::Tensor> fields = ToyData::get(index, context);
        fields.push_back(at::ones({context.step == longer_ ? 9 : 2}));
        return fields;
      }

     private:
      std::int64_t longer_;
    };
    const auto data = std::make_shared<Data>(is_rank_ ? longer_ : -1);
    return {data, data};
  }

 private:
  std::int64_t longer_;
  bool is_rank_;
};

std::vector<double> losses(GraphMode mode, std::vector<int>& replayed,
                           std::vector<std::int64_t>& beside) {
  std::vector<double> result;
  std::mutex mutex;
  replayed.assign(2, 0);
  beside.assign(2, 0);
  testing::with_ranks(2, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    options.graph = mode;
    LongerOnce recipe(6, group.rank(), 1);
    testing::GraphBackend backend;
    testing::LoadingRank rank(options, recipe, group, backend, batch_of(2), 10);
    std::vector<double> own;
    for (int step = 0; step < 10; ++step) own.push_back(rank.step().loss);
    const std::lock_guard lock(mutex);
    replayed[static_cast<std::size_t>(group.rank())] = backend.replayed;
    beside[static_cast<std::size_t>(group.rank())] = rank.runner.steps_beside_graph();
    if (group.rank() == 0) result = own;
  });
  return result;
}

TEST(GraphOfSteps, LeavesAStepOfAnotherShapeToAllRanksTogether) {
  std::vector<int> replayed;
  std::vector<std::int64_t> beside;
  const std::vector<double> plain = losses(GraphMode::off, replayed, beside);
  EXPECT_EQ(replayed, (std::vector<int>{0, 0}));
  const std::vector<double> by_graph = losses(GraphMode::automatic, replayed, beside);
  EXPECT_EQ(by_graph, plain);
  // Of ten steps three warm up, and the seventh has another shape on rank 1 alone.
  EXPECT_EQ(replayed, (std::vector<int>{6, 6}));
  EXPECT_EQ(beside, (std::vector<std::int64_t>{1, 1}));
}

}  // namespace
}  // namespace lockstep
