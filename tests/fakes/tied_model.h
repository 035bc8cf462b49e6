// The toy regression with parameters that are frozen, and one that has two names.
#pragma once

#include "fakes/toy_recipe.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

namespace lockstep::testing {

// `tied` is `second` under another name: the same tensor, or one of its own that shares the memory.
class TiedModel : public ToyModel {
 public:
  explicit TiedModel(std::uint64_t seed, bool shares_memory_only = false) : ToyModel(seed) {
    tied = second;
    if (shares_memory_only) tied = second.detach().set_requires_grad(true);
    scale = at::full({5}, 1.1);
    places = at::arange(3);
  }
  std::vector<Parameter> parameters() override {
    auto all = ToyModel::parameters();
    all.insert(all.begin() + 1, {"scale", scale});
    all.push_back({"tied", tied});
    all.push_back({"places", places});
    return all;
  }

  at::Tensor tied, scale, places;  // scale: f32, frozen; places: i64, frozen
};

// Uses all of them: the output goes through `tied` a second time.
class TiedRecipe : public ToyRecipe {
 public:
  explicit TiedRecipe(bool shares_memory_only = false) : shares_memory_only_(shares_memory_only) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<TiedModel>(seed, shares_memory_only_);
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    auto& toy = dynamic_cast<TiedModel&>(model);
    Batch scaled = batch;
    scaled.tensors[0] = batch.tensors[0] * toy.scale.to(at::kFloat);
    auto sums = ToyRecipe::loss(model, scaled, context);
    const at::Tensor weight = (batch.tensors[2] * batch.row_weight.unsqueeze(1)).sum();
    const at::Tensor rows = toy.tied.index_select(0, toy.places).to(at::kFloat);
    sums[0] = sums[0] + rows.square().sum() * weight * 1e-2;
    return sums;
  }

 private:
  bool shares_memory_only_;
};

}  // namespace lockstep::testing
