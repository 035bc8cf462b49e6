// Self-attention over the packed output of one projection: causal or both ways, over rows of one
// length, of several, or one behind the other without padding.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// The positions that a position sees.
enum class Sees { all, not_later };  // not_later: causal

// The memory behind the last of ragged rows: it may hold anything, or there is nothing.
enum class Behind { anything, nothing };

// qkv [B, T, 3, H, D]: queries, keys and values of H heads, f32|bf16|f16, dense. Scores are divided
// by the root of D. Returns [B, T, H, D].
// lengths i32|i64 [B] on qkv's device, each in [0, T]: row b has positions below lengths[b]; those
// from there on are padding, which may hold any finite numbers: nobody sees them, their results and
// gradients are 0. Undefined: no padding. Throws Error for others on the CPU; a GPU takes them as
// the nearest, because looking would wait for it. Differentiable twice. On data-center GPUs from
// Hopper on, cuDNN reads and writes the packed form in place, and leaves out the padding; on other
// GPUs ATen's attention is used on views of it; on the CPU each row by itself, without its padding.
// Second derivatives are those of plain operators.
at::Tensor packed_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths = {});

inline at::Tensor packed_causal_attention(const at::Tensor& qkv) {
  return packed_attention(qkv, Sees::not_later);
}

// The same for rows that lie one behind the other, as training/data/collate.h's ragged fields do:
// no padding is stored or computed. qkv [N, 3, H, D]. offsets i32|i64 [B + 1] on its device: row b
// is [offsets[b], offsets[b + 1]); offsets[0] is 0, and what lies from the last one on belongs to
// no row, so that N may be a size that comes again; its results and gradients are 0. longest: at
// least the length of every row, known on the host. Returns [N, H, D]. bf16 and f16 on GPUs from
// sm_80 on: ATen's FlashAttention over ragged rows. Other types and GPUs: the rows are padded to
// `longest` meanwhile. CPU: each row by itself. behind: whether the caller knows that offsets end
// at N, which saves GPUs from looking for what lies behind; where it is not so after all, an Error
// on the CPU, anything elsewhere.
at::Tensor ragged_attention(const at::Tensor& qkv, const at::Tensor& offsets, std::int64_t longest,
                            Sees sees, Behind behind = Behind::anything);

struct AttentionKernels {
  // Whether both others serve arguments of these sizes and this type; pointers are not looked at,
  // but whether `lengths` is null is.
  bool (*serves)(const AttentionArguments&) = nullptr;
  void (*forward)(const AttentionArguments&) = nullptr;  // on the current stream
  void (*backward)(const AttentionArguments&) = nullptr;
  bool ragged_flash = false;  // ATen's FlashAttention runs on this GPU
};
void register_cuda_attention(AttentionKernels kernels);

}  // namespace lockstep
