// Declares the implementations of attention, among which packed_attention and ragged_attention
// choose.
#pragma once

#include "ops/attention/attention.h"

namespace lockstep {

const AttentionKernels& attention_kernels_here();

enum class Operators { fused, plain };  // plain: differentiable any number of times

// Computes packed_attention with ATen.
at::Tensor padded_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators);
// Computes padded_attention for lengths on a GPU, which the host cannot read without waiting. It
// computes all positions, and masks the padding. lengths must be defined.
at::Tensor masked_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators);

// Throws Error unless lengths are i32|i64 [rows]. If lengths are on the CPU, also throws Error for
// a length outside of [0, longest].
void check_lengths(const at::Tensor& lengths, std::int64_t rows, std::int64_t longest);

}  // namespace lockstep
