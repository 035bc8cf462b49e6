// What the padding rows of an epoch's last step do to training: nothing to the gradient, and to
// statistics over the rows what ordinary samples do.
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/ones.h>

#include <functional>
#include <mutex>

namespace lockstep {
namespace {

constexpr double momentum = 0.5;  // the last step shows

// Batch norm of one feature, then a sum.
class NormModel : public Model {
 public:
  std::vector<Parameter> parameters() override {
    return {{"weight", weight, false}, {"bias", bias, false}};
  }
  std::vector<NamedTensor> buffers() override {
    return {{"running_mean", mean}, {"running_var", variance}};
  }
  at::Tensor weight = at::ones({1}).set_requires_grad(true);
  at::Tensor bias = at::zeros({1}).set_requires_grad(true);
  at::Tensor mean = at::zeros({1}), variance = at::ones({1});
};

// Sample 0 is far from the others, which are normal with mean 10 and deviation 2.
class Outlier : public Dataset {
 public:
  explicit Outlier(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext&) const override {
    Random random(3, RandomStream::sample, static_cast<std::uint64_t>(index), 0);
    at::Tensor x = at::zeros({1});
    x[0] = index == 0 ? 30 : 10 + 2 * random.normal();
    return {x};
  }

 private:
  std::int64_t count_;
};

class NormRecipe : public Recipe {
 public:
  explicit NormRecipe(std::int64_t samples) : samples_(samples) {}
  std::unique_ptr<Model> build(std::uint64_t) override { return std::make_unique<NormModel>(); }
  DatasetPair data() override { return {std::make_shared<Outlier>(samples_), nullptr}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {batch.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    auto& norm = dynamic_cast<NormModel&>(model);
    const at::Tensor y = at::batch_norm(batch.tensors[0], norm.weight, norm.bias, norm.mean,
                                        norm.variance, context.training, momentum, 1e-5, false);
    return {(y.squeeze(1).square() * batch.row_weight).sum()};
  }
  at::Tensor evaluate(Model&, const Batch&, StepContext&) override { return {}; }
  std::vector<Metric> metrics(const Records&) const override { return {}; }

 private:
  std::int64_t samples_;
};

// Trains one epoch; what each rank is left with, given to `look`.
void train_epoch(Recipe& recipe, std::int64_t global, int ranks,
                 const std::function<void(Model&, const GradientBuffers&)>& look) {
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    options.optimizer.clip = 0;
    options.seed = 4;
    const std::int64_t steps = (recipe.data().train->size() - 1) / global + 1;
    testing::LoadingRank rank(
        options, recipe, group, cpu_backend(),
        {.world_size = ranks, .micro = global / ranks, .accumulation = 1, .global = global}, steps);
    while (!rank.loader.done()) rank.step(/*lr=*/0);
    const std::lock_guard lock(mutex);
    look(*rank.model, rank.gradients);
  });
}

// 65 samples in steps of 64: the second has one of weight 1.
TEST(Padding, LeavesTheStatisticsOfBatchNormThoseOfTheData) {
  for (const int ranks : {1, 2}) {
    NormRecipe recipe(65);
    train_epoch(recipe, 64, ranks, [&](Model& model, const GradientBuffers&) {
      const auto& norm = dynamic_cast<NormModel&>(model);
      // Two steps forget 3/4 of the first values, 0 and 1. Sample 0 moves a mean over 32 rows by
      // at most 20/32 and their variance by 12.
      EXPECT_NEAR(norm.mean.item<double>(), 0.75 * 10, 1.2) << ranks << " ranks";
      EXPECT_NEAR(norm.variance.item<double>(), 0.25 + 0.75 * 4, 10) << ranks << " ranks";
      EXPECT_GT(norm.variance.item<double>(), 0.25 + 0.75 * 4 * 0.6) << ranks << " ranks";
    });
  }
}

TEST(Padding, ChangesNoGradient) {
  std::vector<at::Tensor> padded, whole;
  testing::ToyRecipe recipe(40, 3);
  for (const int ranks : {1, 3})
    train_epoch(recipe, 48, ranks, [&](Model&, const GradientBuffers& gradients) {
      padded.push_back(gradients.flat().clone());
    });
  train_epoch(recipe, 40, 1, [&](Model&, const GradientBuffers& gradients) {
    whole.push_back(gradients.flat().clone());
  });
  ASSERT_EQ(padded.size(), 4U);
  const double norm = whole[0].norm().item<double>();
  EXPECT_GT(norm, 1e-3);
  for (const at::Tensor& gradients : padded)
    EXPECT_LE((gradients - whole[0]).norm().item<double>(), 1e-6 * norm);
}

}  // namespace
}  // namespace lockstep
