// Batch norm as a module. It computes its statistics as norm.statistics says.
#pragma once

#include "training/recipe/recipe.h"

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

namespace lockstep {

// Replaces torch::nn::BatchNorm1d, 2d and 3d, which always take statistics of a rank's own rows.
// The names of parameters and buffers are the same.
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
  // x: [N, C, ...]. The result has the dtype and layout of x. after: the residual sum, ReLU and
  // pool that follow the norm. known: the moments of x, which may be given if
  // StepContext::wants_moments is true.
  at::Tensor forward(const at::Tensor& x, const StepContext& context, const AfterNorm& after = {},
                     const KnownMoments& known = {}) {
    return context.batch_norm(x, state(), after, known);
  }
  // The parameters and statistics that it normalises with. Also serves as AfterNorm::skip_norm of
  // another norm.
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
