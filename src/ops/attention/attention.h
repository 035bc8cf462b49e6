// Self-attention over the packed output of one projection, causal or bidirectional. Rows may have
// the same length, different lengths with padding, or be concatenated without padding.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// The positions that a position sees.
enum class Sees { all, not_later };  // not_later: causal

// The memory after the last ragged row: it may hold anything, or there is none.
enum class Behind { anything, nothing };

// qkv: [B, T, 3, H, D], queries, keys and values of H heads, f32|bf16|f16, dense. Scores are
// divided by the square root of D. Returns [B, T, H, D]. lengths: i32|i64 [B] on qkv's device, each
// in [0, T]. Row b has the positions below lengths[b]. The positions from there on are padding,
// which may hold any finite numbers. No position sees the padding, and its results and gradients
// are 0. Undefined: no padding. For lengths outside of [0, T] it throws Error on the CPU. A GPU
// uses the nearest valid length, because a check would wait for the device. Differentiable twice.
// On data-center GPUs from Hopper on, cuDNN reads and writes the packed form in place, and skips
// the padding. On other GPUs ATen's attention works on views of the packed form. On the CPU each
// row is computed separately, without its padding. Second derivatives use plain operators.
at::Tensor packed_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths = {});

inline at::Tensor packed_causal_attention(const at::Tensor& qkv) {
  return packed_attention(qkv, Sees::not_later);
}

// The same for concatenated rows, such as the ragged fields of training/data/collate.h. No padding
// is stored or computed. qkv: [N, 3, H, D]. offsets: i32|i64 [B + 1] on qkv's device. Row b is
// [offsets[b], offsets[b + 1]), and offsets[0] is 0. Positions from the last offset on belong to no
// row, so that the same N can be used for batches of different sizes. Their results and gradients
// are 0. longest: at least the length of every row, known on the host. Returns [N, H, D]. bf16 and
// f16 on GPUs from sm_80 on use ATen's FlashAttention over ragged rows. Other types and GPUs pad
// the rows to `longest` temporarily. The CPU computes each row separately. behind: says whether the
// caller knows that offsets end at N. Then GPUs need not handle positions after the last row. If
// offsets do not end at N after all, the CPU throws Error, and results on other devices are
// undefined.
at::Tensor ragged_attention(const at::Tensor& qkv, const at::Tensor& offsets, std::int64_t longest,
                            Sees sees, Behind behind = Behind::anything);

struct AttentionKernels {
  // Whether `forward` and `backward` support arguments of these sizes and this type. It ignores
  // pointers, but considers whether `lengths` is null.
  bool (*serves)(const AttentionArguments&) = nullptr;
  void (*forward)(const AttentionArguments&) = nullptr;  // runs on the current stream
  void (*backward)(const AttentionArguments&) = nullptr;
  bool ragged_flash = false;  // ATen's FlashAttention runs on this GPU
};
void register_cuda_attention(AttentionKernels kernels);

}  // namespace lockstep
