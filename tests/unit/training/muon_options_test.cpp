// Muon with what else changes an update: frozen and tied parameters, groups, clipping, the average
// of the weights, and more ranks than matrices.
#include "fakes/muon_cases.h"
#include "fakes/thread_ranks.h"
#include "training/parameters/freeze.h"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>

#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

namespace lockstep {
namespace {

using testing::MatricesModel;
using testing::MuonOptions;
using Change = std::function<void(TrainOptions&)>;
using Weights = std::map<std::string, at::Tensor>;

struct MuonOptionsRig {
  MuonOptions options;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit MuonOptionsRig(const Change& change, ProcessGroup* sharing = nullptr,
                          const std::vector<Parameter>& parameters = MatricesModel().parameters())
      : storage(parameters, at::kCPU, at::kFloat, sharing, usual_bucket_bytes, OptimizerKind::muon),
        gradients(storage),
        optimizer((change(options), options), gradients) {}

  void step(std::int64_t number, double scale = 1) {
    testing::take_made_step(storage, gradients, optimizer, number, scale);
  }
  Weights weights() const {
    Weights all;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      all[storage.parameters()[i].name] = storage.view(storage.weights(), i).clone();
    return all;
  }
};

Weights weights_after_a_step(const Change& change, double scale = 1) {
  MuonOptionsRig rig(change);
  rig.step(0, scale);
  return rig.weights();
}

constexpr const char* names_of_matrices[] = {"square", "tall", "wide", "larger"};

std::vector<std::string> muon_names(const std::vector<Parameter>& registered) {
  const ModelParameters sorted = sort_parameters(registered);
  std::vector<Parameter> trained;
  for (const UniqueParameter& one : sorted.trained) trained.push_back(one.parameter);
  const auto parameters = optimized_parameters(trained, sorted.aliases, sorted.guessed_uses);
  const auto kinds = granularities(OptimizerKind::muon, parameters);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] == Granularity::matrix) names.push_back(parameters[i].name);
  return names;
}

// With the marked ones frozen no mark is left among the trained.
TEST(MuonParameters, StayTheSameWhereOthersAreFrozen) {
  const std::vector<std::string> all(std::begin(names_of_matrices), std::end(names_of_matrices));
  for (const bool has_marks : {true, false}) {
    std::vector<Parameter> parameters = MatricesModel().parameters();
    if (!has_marks)
      for (Parameter& one : parameters) one.use = ParameterUse::usual;
    EXPECT_EQ(sort_parameters(parameters).guessed_uses, !has_marks);
    EXPECT_EQ(muon_names(parameters), all);
    freeze(parameters, {"words", "head"});
    EXPECT_EQ(muon_names(parameters), all);
    freeze(parameters, {"square"});
    EXPECT_EQ(muon_names(parameters), (std::vector<std::string>{"tall", "wide", "larger"}));
  }
}

// The last name is the head's, which is the embedding: no other matrix is taken for the head.
TEST(MuonParameters, OfAModelWithoutMarksCountTheNamesOfATiedHead) {
  std::vector<Parameter> parameters = MatricesModel().parameters();
  for (Parameter& one : parameters) one.use = ParameterUse::usual;
  parameters.pop_back();
  parameters.push_back({.name = "head", .tensor = parameters.front().tensor});
  EXPECT_EQ(muon_names(parameters),
            (std::vector<std::string>(std::begin(names_of_matrices), std::end(names_of_matrices))));
}

TEST(Muon, TrainsBesideFrozenAndTiedParameters) {
  std::vector<Parameter> parameters = MatricesModel().parameters();
  parameters.push_back({.name = "again", .tensor = parameters[1].tensor});  // "square"
  freeze(parameters, {"wide", "head"});
  MuonOptionsRig rig([](TrainOptions&) {}, nullptr, parameters);
  const Weights before = rig.weights();
  rig.step(0);
  const Weights after = rig.weights();
  EXPECT_FALSE(after.contains("wide"));
  EXPECT_FALSE(rig.optimizer.states().front().has(1));  // tied, so AdamW's
  EXPECT_TRUE(rig.optimizer.states().back().has(1));
  for (const char* name : {"square", "tall", "larger", "words"})
    EXPECT_FALSE(after.at(name).equal(before.at(name))) << name;
  const Weights all = weights_after_a_step([](TrainOptions&) {});
  EXPECT_TRUE(after.at("tall").equal(all.at("tall")));
}

TEST(Muon, TakesRatesAndDecaysOfGroups) {
  const Weights before = MuonOptionsRig([](TrainOptions&) {}).weights();
  const Weights usual = weights_after_a_step([](TrainOptions& o) { o.optimizer.weight_decay = 0; });
  const Weights grouped = weights_after_a_step([](TrainOptions& o) {
    o.optimizer.weight_decay = 0;
    o.optimizer.groups = {"tall: lr_factor=2", "wide: weight_decay=0.5"};
  });
  const auto moved = [&](const Weights& all, const char* name) {
    return at::Tensor(all.at(name) - before.at(name));
  };
  EXPECT_TRUE(at::allclose(moved(grouped, "tall"), 2 * moved(usual, "tall"), 1e-4, 1e-6));
  EXPECT_TRUE(at::allclose(moved(grouped, "wide"),
                           moved(usual, "wide") - 0.5 / 64 * before.at("wide"), 1e-4, 1e-6));
  EXPECT_TRUE(grouped.at("square").equal(usual.at("square")));
}

// Muon's update does not grow with the gradient, so clipping shows in the mean of gradients alone.
TEST(Muon, KeepsClippedGradientsInItsMomentum) {
  MuonOptionsRig whole([](TrainOptions&) {}), clipped([](TrainOptions&o) { o.optimizer.clip = 1; });
  whole.step(0);
  clipped.step(0);
  const double norm = clipped.optimizer.gradient_norm().item<double>();
  ASSERT_GT(norm, 2);
  const at::Tensor &all = whole.optimizer.states().front().flat(),
                   &less = clipped.optimizer.states().front().flat();
  EXPECT_TRUE(at::allclose(less * norm, all, 1e-3, 1e-5));
}

TEST(Muon, IsAveragedLikeAnyRule) {
  MuonOptionsRig rig([](TrainOptions& o) { o.ema.decay = 0.5; });
  const at::Tensor before = rig.storage.master().clone();
  rig.step(0);
  const at::Tensor after = rig.storage.master();
  const at::Tensor average = rig.optimizer.average()->flat();
  const at::Tensor share = (average - before).norm() / (after - before).norm();
  EXPECT_GT(share.item<double>(), 0);
  EXPECT_LT(share.item<double>(), 1.001);
  EXPECT_TRUE(at::allclose(average, before + share * (after - before), 1e-4, 1e-6));
  EXPECT_TRUE(
      rig.weights().at("tall").equal(weights_after_a_step([](TrainOptions&) {}).at("tall")));
}

// Four matrices and six ranks: two keep no momentum.
TEST(Muon, WorksOnMoreRanksThanThereAreMatrices) {
  MuonOptionsRig alone([](TrainOptions&) {});
  for (std::int64_t step = 0; step < 3; ++step) alone.step(step);
  const Weights expected = alone.weights();
  std::mutex mutex;
  int without = 0;
  testing::with_ranks(6, [&](ProcessGroup& group) {
    MuonOptionsRig rig([](TrainOptions&) {}, &group);
    for (std::int64_t step = 0; step < 3; ++step) rig.step(step);
    const Weights weights = rig.weights();
    const std::lock_guard lock(mutex);
    without += rig.optimizer.states().front().flat().numel() == 0;
    for (const char* name : names_of_matrices)
      EXPECT_TRUE(weights.at(name).equal(expected.at(name))) << name << " on " << group.rank();
  });
  EXPECT_GE(without, 2);
}

}  // namespace
}  // namespace lockstep
