// Computes GELU and ReLU, fused with the addition of a bias.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns gelu(x + bias). GELU is computed with erf, or with the tanh approximation if `tanh` is
// true.
//   x      [..., n], f32|bf16|f16
//   bias   [n] in the dtype of x, or undefined
// Our kernels compute in f32. The result is differentiable in x and bias. If bias has a gradient
// buffer (gradient_buffer.h), its gradient is added there.
at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias, bool tanh);

// Returns relu(x + bias). All other rules are those of bias_gelu.
at::Tensor bias_relu(const at::Tensor& x, const at::Tensor& bias);

struct ActivationKernels {
  void (*forward)(const ActivationArguments&) = nullptr;  // runs on the current stream
  void (*backward)(const ActivationArguments&) = nullptr;
};
void register_cuda_activation(ActivationKernels kernels);

}  // namespace lockstep
