// Muon on several ranks: sharded by whole matrices, and exact.
#include "fakes/muon_cases.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>

#include <map>
#include <mutex>

namespace lockstep {
namespace {

using testing::MatricesModel;
using testing::MuonOptions;

// By parameter: its weights after three steps on `ranks`, as rank 0 computes with them; and the
// elements of momentum that all ranks keep together.
struct MuonOutcome {
  std::map<std::string, at::Tensor> weights;
  std::int64_t momentum_elements = 0;
};

MuonOutcome train_matrices(int ranks, at::ScalarType dtype) {
  MuonOutcome outcome;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    MuonOptions options;
    if (dtype != at::kFloat) options.precision = Precision::bf16;
    MatricesModel model;
    ParameterStorage storage(model.parameters(), at::kCPU, dtype, &group, usual_bucket_bytes,
                             OptimizerKind::muon);
    GradientBuffers gradients(storage);
    Optimizer optimizer(options, gradients);
    for (std::int64_t step = 0; step < 3; ++step)
      testing::take_made_step(storage, gradients, optimizer, step);
    const std::lock_guard lock(mutex);
    outcome.momentum_elements += optimizer.states().front().flat().numel();
    if (group.rank() != 0) return;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      outcome.weights[storage.parameters()[i].name] = storage.view(storage.weights(), i).clone();
  });
  return outcome;
}

class MuonRanks : public ::testing::TestWithParam<int> {};

// Each matrix is updated by one rank, by the same products, so to the same bits.
TEST_P(MuonRanks, UpdateMatricesAsOneRankDoes) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const MuonOutcome one = train_matrices(1, dtype), many = train_matrices(GetParam(), dtype);
    EXPECT_EQ(many.momentum_elements, one.momentum_elements);
    for (const char* name : {"square", "tall", "wide", "larger"})
      EXPECT_TRUE(many.weights.at(name).equal(one.weights.at(name))) << name;
    for (const auto& [name, weights] : one.weights)
      EXPECT_TRUE(at::allclose(many.weights.at(name), weights, 1e-2, 1e-6)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Muon, MuonRanks, ::testing::Values(2, 3, 4));

// The toy with one matrix that is neither embedding nor head.
class HeadedToy : public testing::ToyModel {
 public:
  using ToyModel::ToyModel;
  std::vector<Parameter> parameters() override {
    std::vector<Parameter> all = ToyModel::parameters();
    all[2].use = ParameterUse::head;
    return all;
  }
};

class HeadedRecipe : public testing::ToyRecipe {
 public:
  using ToyRecipe::ToyRecipe;
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<HeadedToy>(seed);
  }
};

at::Tensor train_toy(int ranks, const std::function<void(TrainOptions&)>& change) {
  constexpr std::int64_t global_batch = 12, micro = 2, steps = 4;
  at::Tensor weights;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    MuonOptions options;
    change(options);
    HeadedRecipe recipe(50, 3, 0.25);
    testing::LoadingRank rank(options, recipe, group, cpu_backend(),
                              {.world_size = ranks,
                               .micro = micro,
                               .accumulation = global_batch / ranks / micro,
                               .global = global_batch},
                              steps);
    for (std::int64_t step = 0; step < steps; ++step) rank.step();
    if (group.rank() == 0) weights = rank.storage.view(rank.storage.weights(), 0).clone();
  });
  return weights;
}

TEST(Muon, IsBitwiseTheSameOnAnyNumberOfRanksInExactMode) {
  const auto exact = [](TrainOptions& o) { o.exact = true; };
  const at::Tensor one = train_toy(1, exact);
  EXPECT_TRUE(train_toy(2, exact).equal(one));
  EXPECT_TRUE(train_toy(3, exact).equal(one));
}

// A last bit of a sum may turn over a bit of bf16 in the products.
TEST(Muon, ShardedStepsAreThoseOfOneRankButForRounding) {
  const at::Tensor one = train_toy(1, [](TrainOptions&) {});
  const at::Tensor two = train_toy(2, [](TrainOptions& o) { o.shard_optimizer = true; });
  EXPECT_TRUE(at::allclose(two, one, 2e-2, 2e-4));
}

}  // namespace
}  // namespace lockstep
