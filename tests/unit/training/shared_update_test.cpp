// Ranks that share the update (shard_optimizer) give what ranks that each do all of it give.
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linspace.h>

#include <cmath>
#include <mutex>
#include <tuple>

namespace lockstep {
namespace {

struct Changed : TrainOptions {
  explicit Changed(const std::function<void(TrainOptions&)>& change) {
    precision = Precision::fp32;
    change(*this);
  }
};

// The toy beside a matrix that fills a bucket of its own.
class WideModel : public testing::ToyModel {
 public:
  explicit WideModel(std::uint64_t seed) : ToyModel(seed) {
    wide = at::linspace(-1, 1, 700 * 500).view({700, 500}).set_requires_grad(true);
  }
  std::vector<Parameter> parameters() override {
    auto all = ToyModel::parameters();
    all.push_back({"wide", wide});
    return all;
  }
  at::Tensor wide;
};

class WideRecipe : public testing::ToyRecipe {
 public:
  using ToyRecipe::ToyRecipe;
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<WideModel>(seed);
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    auto sums = ToyRecipe::loss(model, batch, context);
    const at::Tensor weight = (batch.tensors[2] * batch.row_weight.unsqueeze(1)).sum();
    const at::Tensor wide = dynamic_cast<WideModel&>(model).wide.to(at::kFloat);
    sums[0] = sums[0] + wide.square().sum() * weight * 1e-3;
    return sums;
  }
};

struct Outcome {
  std::map<std::string, at::Tensor> state;  // weights, moments, average: by parameter, in fp32
  std::vector<double> losses, norms;
  std::int64_t own_elements = 0, elements = 0, moment_elements = 0, master_elements = 0;
};

// A flat buffer [own_elements] of all ranks as one [elements].
at::Tensor whole(const ParameterStorage& storage, const at::Tensor& flat) {
  if (flat.numel() == storage.elements()) return flat.clone();
  std::vector<at::Tensor> buckets;
  for (const Shard& shard : storage.own())
    buckets.push_back(storage.sharing()
                          ->all_gather(storage.range(flat, shard, shard.begin, shard.end))
                          .flatten());
  return at::cat(buckets);
}

void keep_state(ParameterStorage& storage, Optimizer& optimizer, Outcome& outcome) {
  std::map<std::string, at::Tensor> flats = optimizer.flat_state();
  flats["master"] = storage.master();
  if (optimizer.average() != nullptr) flats["average"] = optimizer.average()->flat();
  for (auto& [name, flat] : flats) {
    const at::Tensor all = whole(storage, flat);
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      outcome.state[name + "." + storage.parameters()[i].name] = storage.view(all, i).clone();
  }
  for (const Parameter& parameter : storage.parameters())
    outcome.state["seen." + parameter.name] = parameter.tensor.detach().to(at::kFloat).clone();
}

Outcome train(int ranks, bool shared, const std::function<void(TrainOptions&)>& change,
              std::int64_t steps = 5) {
  constexpr std::int64_t global_batch = 24;
  Outcome result;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    Changed options(change);
    WideRecipe recipe(50, 3, 0.25);
    options.shard_optimizer = shared;
    testing::LoadingRank rank(options, recipe, group, cpu_backend(),
                              {.world_size = ranks,
                               .micro = global_batch / ranks / 2,
                               .accumulation = 2,
                               .global = global_batch},
                              steps);
    ParameterStorage& storage = rank.storage;
    Optimizer& optimizer = rank.optimizer;
    Outcome own;
    for (std::int64_t step = 0; step < steps; ++step) {
      const StepResult done = rank.step();
      own.losses.push_back(done.loss);
      own.norms.push_back(done.gradient_norm);
    }
    keep_state(storage, optimizer, own);
    own.own_elements = storage.own_elements();
    own.elements = storage.elements();
    own.moment_elements = optimizer.flat_state().begin()->second.numel();
    own.master_elements = storage.master().numel();
    EXPECT_EQ(storage.buckets().size(), 2U);
    if (group.rank() != group.size() - 1) return;
    const std::lock_guard lock(mutex);
    result = std::move(own);
  });
  return result;
}

// Not finite in both, or close.
void expect_close(double a, double b, double tolerance, std::size_t step) {
  EXPECT_EQ(std::isfinite(a), std::isfinite(b)) << "step " << step + 1;
  if (!std::isfinite(b)) return;
  EXPECT_NEAR(a, b, tolerance * std::abs(b)) << "step " << step + 1;
}

void expect_same_outcome(const Outcome& a, const Outcome& b, double tolerance) {
  ASSERT_EQ(a.state.size(), b.state.size());
  for (const auto& [name, value] : a.state) {
    const double norm = b.state.at(name).norm().item<double>();
    EXPECT_LE((value - b.state.at(name)).norm().item<double>(), tolerance * norm) << name;
  }
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    expect_close(a.losses[i], b.losses[i], tolerance, i);
    expect_close(a.norms[i], b.norms[i], std::max(tolerance, 1e-5), i);
  }
}

class SharedUpdate : public ::testing::TestWithParam<int> {};

TEST_P(SharedUpdate, GivesTheSameWeightsMomentsAndAverageInFp32) {
  const auto options = [](TrainOptions& o) {
    o.ema.decay = 0.8;
    o.optimizer.clip = 0.05;  // clips each step
  };
  const Outcome plain = train(GetParam(), false, options);
  expect_same_outcome(train(GetParam(), true, options), plain, 1e-6);
  expect_same_outcome(train(1, false, options), plain, 1e-5);
  EXPECT_GT(plain.norms[0], 0.05);
}

// A last bit of a sum may round a weight or a gradient to its other neighbour in bf16 or fp16.
constexpr double low_tolerance = 1e-4;

TEST_P(SharedUpdate, GivesTheSameInLowPrecision) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const auto options = [&](TrainOptions& o) {
      o.precision = precision;
      o.ema.decay = 0.8;
    };
    expect_same_outcome(train(GetParam(), true, options), train(GetParam(), false, options),
                        low_tolerance);
  }
}

TEST_P(SharedUpdate, GivesTheSameWithSgdAndGradientsAddedUpInBf16) {
  const auto options = [](TrainOptions& o) {
    o.optimizer.kind = OptimizerKind::sgd;
    o.reduce_precision = ReducePrecision::bf16;
  };
  // Partial sums are rounded to bf16 in another order: the buckets' shards lie elsewhere.
  expect_same_outcome(train(GetParam(), true, options), train(GetParam(), false, options), 4e-3);
}

TEST_P(SharedUpdate, KeepsOnlyARanksShareOfWhatTheUpdateNeeds) {
  const Outcome fp32 = train(
      GetParam(), true, [](TrainOptions&) {}, 1);
  EXPECT_EQ(fp32.own_elements * GetParam(), fp32.elements);
  EXPECT_EQ(fp32.moment_elements, fp32.own_elements);
  EXPECT_EQ(fp32.master_elements, fp32.elements);  // the model computes with them
  const Outcome bf16 = train(
      GetParam(), true, [](TrainOptions& o) { o.precision = Precision::bf16; }, 1);
  EXPECT_EQ(bf16.master_elements, bf16.own_elements);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedUpdate, ::testing::Values(1, 2, 3, 4));

TEST(ASharedUpdate, IsSkippedByAllRanksWhereOneSeesWhatIsNotFinite) {
  testing::with_ranks(3, [](ProcessGroup& group) {
    Changed options([](TrainOptions& o) { o.ema.decay = 0.5; });
    WideModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kBFloat16, &group);
    GradientBuffers gradients(storage);
    Optimizer optimizer(options, gradients);
    gradients.flat().fill_(0.1);
    optimizer.step(0.01);
    const at::Tensor before = model.wide.clone(), average = optimizer.average()->flat().clone();
    if (group.rank() == 1)
      gradients.flat()[storage.own()[1].begin] = std::numeric_limits<float>::infinity();
    optimizer.step(0.01);
    EXPECT_TRUE(model.wide.equal(before));
    EXPECT_TRUE(optimizer.average()->flat().equal(average));
    EXPECT_EQ(optimizer.scalar_state().at("step").item<double>(), 1);
    EXPECT_FALSE(std::isfinite(optimizer.gradient_norm().item<double>()));
  });
}

TEST(ASharedUpdate, ShowsTheWholeAverageOnEveryRank) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16})
    testing::with_ranks(2, [&](ProcessGroup& group) {
      Changed options([&](TrainOptions& o) {
        o.ema.decay = 0.5;
        if (dtype != at::kFloat) o.precision = Precision::bf16;
      });
      WideModel model(1);
      ParameterStorage storage(model.parameters(), at::kCPU, dtype, &group);
      GradientBuffers gradients(storage);
      Optimizer optimizer(options, gradients);
      gradients.flat().fill_(0.1);
      for (int i = 0; i < 3; ++i) optimizer.step(0.1);
      const at::Tensor weights = model.wide.clone();
      const at::Tensor all = whole(storage, optimizer.average()->flat());
      {
        ShownAverage shown(optimizer.average());
        EXPECT_TRUE(model.wide.equal(storage.view(all, 5).to(dtype)));
        EXPECT_FALSE(model.wide.equal(weights));
        shown.end();
      }
      EXPECT_TRUE(model.wide.equal(weights));
    });
}

}  // namespace
}  // namespace lockstep
