// GELU fused with the bias before it.
#pragma once

#include "kernels/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// gelu(x + bias), by erf, or with `tanh` by its tanh form; x [..., n], bias [n] or undefined, of
// one dtype, f32|bf16|f16; computed in f32. Differentiable in both; where bias has a gradient
// buffer, its gradient goes there.
at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias, bool tanh);

struct GeluKernels {
  void (*forward)(const GeluArguments&) = nullptr;  // on the current stream
  void (*backward)(const GeluArguments&) = nullptr;
};
void register_cuda_gelu(GeluKernels kernels);

}  // namespace lockstep
