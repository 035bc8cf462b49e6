// The ways to compute attention; ops/attention/attention.h chooses among them.
#pragma once

#include "ops/attention/attention.h"

namespace lockstep {

const AttentionKernels& attention_kernels_here();

enum class Operators { fused, plain };  // plain ones can be differentiated any number of times

// Over padded rows, by ATen. Arguments as of packed_attention.
at::Tensor padded_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators);
// The same where the host cannot read the lengths: all is computed, and padding masked. lengths:
// defined.
at::Tensor masked_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators);

// Throws Error for lengths or offsets that cannot be, on the CPU only.
void check_lengths(const at::Tensor& lengths, std::int64_t rows, std::int64_t longest);

}  // namespace lockstep
