// A batch-norm module. norm.statistics chooses whether it uses statistics of a rank's own rows,
// statistics over all ranks, or the running statistics.
#pragma once

#include "training/recipe/recipe.h"

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

namespace lockstep {

// Replaces torch::nn::BatchNorm1d, 2d and 3d, which always take the statistics of a rank's own
// rows. Parameters and buffers have the same names as in torch, but there is no
// num_batches_tracked.
class BatchNormImpl : public torch::nn::Cloneable<BatchNormImpl> {
 public:
  explicit BatchNormImpl(std::int64_t channels, double momentum = 0.1, double eps = 1e-5)
      : channels_(channels), momentum_(momentum), eps_(eps) {
    reset();
  }
  void reset() override {
    weight = register_parameter("weight", torch::ones({channels_}));
    bias = register_parameter("bias", torch::zeros({channels_}));
    running_mean = register_buffer("running_mean", torch::zeros({channels_}));
    running_var = register_buffer("running_var", torch::ones({channels_}));
  }
  // Returns the normalised x, in the dtype and memory layout of x.
  //   x: [N, C, ...]
  //   after: the residual sum, ReLU and pool that follow the norm and are computed together with it
  //   known: the moments of x; may be given only if StepContext::wants_moments() is true
  at::Tensor forward(const at::Tensor& x, const StepContext& context, const AfterNorm& after = {},
                     const KnownMoments& known = {}) {
    return context.batch_norm(x, state(), after, known);
  }
  // Returns the parameters and statistics of this norm. Another norm may take them as
  // AfterNorm::skip_norm.
  BatchNormState state() const {
    return {.weight = weight,
            .bias = bias,
            .running_mean = running_mean,
            .running_var = running_var,
            .momentum = momentum_,
            .eps = eps_};
  }

  at::Tensor weight, bias, running_mean, running_var;  // [C]

 private:
  std::int64_t channels_;
  double momentum_, eps_;
};
TORCH_MODULE(BatchNorm);

}  // namespace lockstep
