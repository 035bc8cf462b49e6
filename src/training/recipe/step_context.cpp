// Functions of StepContext that a recipe calls in its forward pass.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/dropout/dropout.h"
#include "ops/uniform/uniform.h"
#include "training/recipe/recipe.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace lockstep {

void StepContext::log(const std::string& name, const at::Tensor& sum,
                      const at::Tensor& weight) const {
  if (!training) return;
  const auto found = std::find(logged_names.begin(), logged_names.end(), name);
  if (found == logged_names.end()) {
    const std::string near = nearest(name, logged_names);
    throw Error(cat("the loss logs \"", name, "\", which Recipe::logged does not name"),
                near.empty() ? "add it there" : cat("did you mean \"", near, "\"?"));
  }
  const at::NoGradGuard no_grad;
  const at::Tensor slots = logged[found - logged_names.begin()];
  slots[0].add_(sum.detach());
  slots[1].add_(weight.detach());
}

at::Tensor StepContext::dropout(const at::Tensor& x, double p, std::int64_t layer) const {
  if (!training || no_dropout || p == 0) return x;
  return lockstep::dropout(x, p, counters, layer);
}

at::Tensor StepContext::dropout(const at::Tensor& x, const at::Tensor& row_offsets, double p,
                                std::int64_t layer) const {
  if (!training || no_dropout || p == 0) return x;
  return ragged_dropout(x, row_offsets, p, counters, layer);
}

DropoutDraw StepContext::dropout_draw(const at::Tensor& row_offsets, double p,
                                      std::int64_t layer) const {
  if (!training || no_dropout || p == 0) return {};
  return {.p = p, .counters = counters, .offsets = row_offsets, .layer = layer};
}

at::Tensor StepContext::batch_norm(const at::Tensor& x, const BatchNormState& state,
                                   const AfterNorm& after, const KnownMoments& known) const {
  return lockstep::batch_norm(x, state, training && !frozen_statistics, statistics_of_ranks.get(),
                              after, known);
}

at::Tensor StepContext::uniform(std::int64_t rows, std::int64_t n, std::int64_t layer) const {
  if (!training)
    throw Error("StepContext::uniform was called in an evaluation, which has no random numbers",
                "augment only where StepContext::training is true");
  return lockstep::uniform(rows, n, counters, layer);
}

std::vector<at::Tensor> StepContext::block(std::int64_t index, const PureFunction& function,
                                           const std::vector<at::Tensor>& inputs,
                                           const std::vector<at::Tensor>& parameters) const {
  if (before_block) before_block(index, parameters);
  if (!training || index >= recomputed_blocks) return function(inputs);
  return recomputed(function, inputs, parameters);
}

namespace {

StepContext forward_only(at::Device device, at::ScalarType compute_dtype) {
  StepContext context;
  context.training = false;
  context.device = device;
  context.compute_dtype = compute_dtype;
  return context;
}

}  // namespace

StepContext prediction_context(const ItemContext& context) {
  return forward_only(context.device, context.compute_dtype);
}

StepContext prediction_context(const PredictRequest& request) {
  return forward_only(request.device, request.compute_dtype);
}

std::vector<Model*> ItemContext::models(Model& first) const {
  std::vector<Model*> all{&first};
  for (const FurtherRun& run : also) all.push_back(run.model);
  return all;
}

}  // namespace lockstep
