// The search for what was not finite, in a step that is gone through again.
#include "training/gradients/not_finite.h"

#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

// The toy, whose second term weighs nothing in this batch: its sum is 0.
class ToyWithoutRows : public testing::ToyRecipe {
 public:
  explicit ToyWithoutRows(bool spoilt) : spoilt_(spoilt) {}
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {ToyRecipe::loss_weights(batch)[0], 0};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    std::vector<at::Tensor> terms = ToyRecipe::loss(model, batch, context);
    return {spoilt_ ? terms[0] * NAN : terms[0], terms[1] * 0};
  }

 private:
  bool spoilt_;
};

NotFinite search(ToyWithoutRows recipe) {
  NotFinite found;
  testing::with_ranks(1, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = Precision::fp32;
    testing::LoadingRank rank(options, recipe, group, cpu_backend(), {.micro = 8, .global = 8}, 1);
    found = rank.runner.find_not_finite(rank.runner.stage(rank.loader.next()));
  });
  return found;
}

TEST(FindNotFinite, FindsNothingInATermThatWeighsNothing) {
  const NotFinite found = search(ToyWithoutRows(false));
  EXPECT_FALSE(found.found()) << found.tensor;
}

TEST(FindNotFinite, NamesTheTermThatIsSpoiltBesideOneThatWeighsNothing) {
  const NotFinite found = search(ToyWithoutRows(true));
  EXPECT_EQ(found.tensor, "the term elements of the loss");
}

}  // namespace
}  // namespace lockstep
