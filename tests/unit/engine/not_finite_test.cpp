// The search for what was not finite, in a step that is gone through again.
#include "engine/not_finite.h"

#include "engine/step.h"
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
  std::vector<double> weigh(const Batch& batch) const override {
    return {ToyRecipe::weigh(batch)[0], 0};
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
    const auto model = recipe.build(1);
    Arena arena(model->parameters(), at::kCPU, at::kFloat);
    Optimizer optimizer(options, arena);
    Reducer reducer(arena, group, ReducePrecision::fp32);
    StepRunner runner(recipe, *model, arena, reducer, optimizer, group, cpu_backend(), options);
    LoaderOptions loading{
        .seed = 42, .batch = {.micro = 8, .global = 8}, .last_step = 1, .threads = 0};
    loading.weigh = [&](const Batch& batch) { return recipe.weigh(batch); };
    Loader loader(recipe.data().train, loading);
    found = runner.find_not_finite(runner.stage(loader.next()));
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
