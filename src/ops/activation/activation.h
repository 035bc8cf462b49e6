// GELU and ReLU, fused with the addition of a bias.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns gelu(x + bias), computed with erf, or with the tanh approximation if `tanh`. x: [..., n].
// bias: [n] or undefined. Both have the same dtype, f32|bf16|f16. Computed in f32. Differentiable
// in both. If bias has a gradient buffer, its gradient goes there.
at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias, bool tanh);

// Returns relu(x + bias), with the same rules.
at::Tensor bias_relu(const at::Tensor& x, const at::Tensor& bias);

struct ActivationKernels {
  void (*forward)(const ActivationArguments&) = nullptr;  // runs on the current stream
  void (*backward)(const ActivationArguments&) = nullptr;
};
void register_cuda_activation(ActivationKernels kernels);

}  // namespace lockstep
