// The implementations of attention. ops/attention/attention.h chooses among them.
#pragma once

#include "ops/attention/attention.h"

namespace lockstep {

const AttentionKernels& attention_kernels_here();

enum class Operators { fused, plain };  // plain: differentiable any number of times

// Computes padded rows with ATen. Arguments: as for packed_attention.
at::Tensor padded_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators);
// The same if the host cannot read the lengths. It computes all positions, and masks the padding.
// lengths: defined.
at::Tensor masked_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators);

// Throws Error for invalid lengths or offsets, on the CPU only.
void check_lengths(const at::Tensor& lengths, std::int64_t rows, std::int64_t longest);

}  // namespace lockstep
