// Causal self-attention over the packed output of one projection.
#pragma once

#include "kernels/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// qkv [B, T, 3, H, D]: queries, keys and values of H heads, f32|bf16|f16, dense. Position t sees
// positions 0 to t; scores are divided by the root of D. Returns [B, T, H, D]. Differentiable. On
// data-center GPUs from Hopper on, cuDNN reads and writes the packed form in place, and second
// derivatives are those of plain operators; elsewhere ATen's attention is used on views of it, of
// which fused ones refuse a second derivative.
at::Tensor packed_causal_attention(const at::Tensor& qkv);

struct AttentionKernels {
  // Whether both others serve arguments of these sizes and this type; pointers are not looked at.
  bool (*serves)(const AttentionArguments&) = nullptr;
  void (*forward)(const AttentionArguments&) = nullptr;  // on the current stream
  void (*backward)(const AttentionArguments&) = nullptr;
};
void register_cuda_attention(AttentionKernels kernels);

}  // namespace lockstep
