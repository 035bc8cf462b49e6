// What a forward pass of a prediction knows of its surroundings.
#include "fakes/toy_recipe.h"
#include "training/recipe/recipe.h"

#include <ATen/ops/ones.h>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ToyModel;

TEST(PredictionContext, PredictsWithTheItemsDeviceAndDtype) {
  const ItemContext items{.compute_dtype = at::kBFloat16};
  const StepContext context = prediction_context(items);
  EXPECT_FALSE(context.training);
  EXPECT_EQ(context.compute_dtype, at::kBFloat16);
  EXPECT_TRUE(context.device.is_cpu());
  const at::Tensor x = at::ones({2, 3});
  EXPECT_TRUE(context.dropout(x, 0.5, 1).equal(x));
  const PredictRequest request{.device = at::Device(at::kMeta), .compute_dtype = at::kHalf};
  EXPECT_EQ(prediction_context(request).compute_dtype, at::kHalf);
  EXPECT_EQ(prediction_context(request).device, at::Device(at::kMeta));
  EXPECT_FALSE(prediction_context(request).training);
}

TEST(PredictionContext, NamesTheModelsOfAnAverageInTheirOrder) {
  ToyModel first(1), second(2), third(3);
  ItemContext context;
  EXPECT_EQ(context.models(first), std::vector<Model*>{&first});
  context.also = {{.name = "b", .model = &second}, {.name = "c", .model = &third}};
  EXPECT_EQ(context.models(first), (std::vector<Model*>{&first, &second, &third}));
}

}  // namespace
}  // namespace lockstep
