// Numbers that a loss draws on the device belong to the sample's place in the global batch.
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"
#include "ops/augment/augment.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <mutex>

namespace lockstep {
namespace {

// The toy, whose inputs are turned around and made brighter at random.
class Augmented : public testing::ToyRecipe {
 public:
  Augmented() : ToyRecipe(40) {}
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor& x = batch.tensors[0];
    const at::Tensor numbers = context.uniform(batch.size(), 2, /*layer=*/7);
    Batch changed = batch;
    changed.tensors[0] =
        scale_brightness(flip_rows(x, {1}, numbers), between(numbers.select(1, 1), 0.5, 1.5));
    return ToyRecipe::loss(model, changed, context);
  }
};

at::Tensor gradients_of_ranks(testing::ToyRecipe& recipe, int ranks, std::int64_t accumulation) {
  at::Tensor result;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    options.optimizer.clip = 0;
    testing::LoadingRank rank(options, recipe, group, cpu_backend(),
                              {.world_size = ranks,
                               .micro = 48 / ranks / accumulation,
                               .accumulation = accumulation,
                               .global = 48},
                              1);
    rank.step(/*lr=*/0);
    const std::lock_guard lock(mutex);
    if (group.rank() == 0) result = rank.gradients.flat().clone();
  });
  return result;
}

TEST(UniformNumbers, OfALossAreTheSameOnAnyRanksAndMicroBatches) {
  Augmented recipe;
  testing::ToyRecipe plain(40);
  const at::Tensor one = gradients_of_ranks(recipe, 1, 1);
  const double norm = one.norm().item<double>();
  EXPECT_GT((gradients_of_ranks(plain, 1, 1) - one).norm().item<double>(), 0.01 * norm);
  for (const int ranks : {1, 2, 3, 4})
    for (const std::int64_t accumulation : {1, 2, 4})
      EXPECT_LT((gradients_of_ranks(recipe, ranks, accumulation) - one).norm().item<double>(),
                1e-6 * norm)
          << ranks << " ranks, accumulation " << accumulation;
}

}  // namespace
}  // namespace lockstep
