// Computes self-attention over the packed output of one projection, causal or bidirectional. Rows
// may all have the same length, have different lengths with padding, or be concatenated without
// padding.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// The positions to which a position attends: all positions of its row (`all`), or only itself and
// earlier positions (`not_later`, causal attention).
enum class Sees { all, not_later };

// Says for ragged_attention whether there are positions after the last row. `anything`: there may
// be positions with any contents. `nothing`: there are none.
enum class Behind { anything, nothing };

// Returns the attention of each row, [B, T, H, D]. Scores are divided by the square root of D.
//   qkv       [B, T, 3, H, D], dense, f32|bf16|f16: queries, keys and values of H heads
//   lengths   i32|i64 [B] on qkv's device, each in [0, T]; undefined if there is no padding
// Positions of row b from lengths[b] on are padding. They may hold any finite numbers. No position
// of the row attends to its padding, and the results and gradients of padding are 0. A length
// outside of [0, T] throws Error on the CPU. On GPUs the nearest valid length is used, because a
// check would wait for the device.
//
// The result is differentiable twice. Second derivatives use ATen's operators without fused
// attention. The implementation depends on device and dtype:
//   - On GPUs of compute capability 9.x and 10.x, cuDNN computes bf16 and f16 if D is a multiple of
//     eight. cuDNN reads and writes the packed form, and skips the padding.
//   - In all other cases on GPUs, ATen's attention works on views of the packed form.
//   - On the CPU, each row is computed separately, without its padding.
at::Tensor packed_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths = {});

inline at::Tensor packed_causal_attention(const at::Tensor& qkv) {
  return packed_attention(qkv, Sees::not_later);
}

// Computes the attention of packed_attention for B concatenated rows, such as the ragged fields of
// training/data/collate.h. Padding is neither stored nor computed. Returns [N, H, D].
//   qkv       [N, 3, H, D]
//   offsets   i32|i64 [B + 1] on qkv's device, from 0; row b is [offsets[b], offsets[b + 1])
//   longest   at least the length of the longest row
//   behind    whether positions follow the last row; `nothing` promises that offsets end at N
// Positions from the last offset on belong to no row, and their results and gradients are 0. So one
// N can be used for batches of different sizes. With `nothing`, GPUs can skip the work for such
// positions. If `behind` is `nothing` but offsets do not end at N, the CPU throws Error, and GPUs
// return undefined results.
//
// On GPUs of compute capability 8.0 or newer, ATen's FlashAttention over ragged rows computes bf16
// and f16. For this, D must be a multiple of eight and at most 256. In all other cases, GPUs
// temporarily pad the rows to `longest`. The CPU computes each row separately.
at::Tensor ragged_attention(const at::Tensor& qkv, const at::Tensor& offsets, std::int64_t longest,
                            Sees sees, Behind behind = Behind::anything);

struct AttentionKernels {
  // Whether `forward` and `backward` support these sizes and this dtype. A null `lengths` stands
  // for attention without padding. The other pointers may be null.
  bool (*serves)(const AttentionArguments&) = nullptr;
  void (*forward)(const AttentionArguments&) = nullptr;  // runs on the current stream
  void (*backward)(const AttentionArguments&) = nullptr;
  bool ragged_flash = false;  // whether ATen's FlashAttention runs on this GPU
};
void register_cuda_attention(AttentionKernels kernels);

}  // namespace lockstep
