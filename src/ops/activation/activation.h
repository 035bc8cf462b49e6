// GELU and ReLU fused with the bias before them.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// gelu(x + bias), by erf, or with `tanh` by its tanh form; x [..., n], bias [n] or undefined, of
// one dtype, f32|bf16|f16; computed in f32. Differentiable in both; where bias has a gradient
// buffer, its gradient goes there.
at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias, bool tanh);

// relu(x + bias), likewise.
at::Tensor bias_relu(const at::Tensor& x, const at::Tensor& bias);

struct ActivationKernels {
  void (*forward)(const ActivationArguments&) = nullptr;  // on the current stream
  void (*backward)(const ActivationArguments&) = nullptr;
};
void register_cuda_activation(ActivationKernels kernels);

}  // namespace lockstep
