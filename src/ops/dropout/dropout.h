// Dropout whose mask is a pure function of (seed, step, layer, place, element).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// y = x * mask / (1 - p), differentiable in x; the backward pass draws the mask again instead of
// keeping it. x: [B, ...] f32|bf16|f16 contiguous; counters: i64 [3] on x's device (seed, step,
// first_global_row). Element e of row b is kept if word e % 4 of
//   philox(counter = {e / 4, first_global_row + b, step, layer}, key = seed * 2 + 1)   (low 32 bits
//   each)
// is >= p * 2^32. CPU: a loop over rows; CUDA: the registered kernel, else ATen operators.
at::Tensor dropout(const at::Tensor& x, double p, const at::Tensor& counters, std::int64_t layer);

// The same for rows of several lengths that lie one behind the other, as training/data/collate.h's
// ragged fields do: row b is x[offsets[b]] to x[offsets[b + 1] - 1], and its elements are numbered
// from its first. So a row's mask is that which it has alone, wherever it lies. x: [N, ...];
// offsets: i32|i64 [B + 1] on its device, from 0, at most N. Elements from the last one on belong
// to no row and become 0. Throws Error for other offsets, on the CPU only: a GPU would have to
// wait.
at::Tensor ragged_dropout(const at::Tensor& x, const at::Tensor& offsets, double p,
                          const at::Tensor& counters, std::int64_t layer);

// One dropout, for operations that take it in: its mask is that of `dropout`, or with offsets that
// of `ragged_dropout`. p == 0: none.
struct DropoutDraw {
  double p = 0;
  at::Tensor counters, offsets;  // offsets: undefined for rows of one length
  std::int64_t layer = 0;
};
at::Tensor dropout(const at::Tensor& x, const DropoutDraw& draw);

struct DropoutArguments {
  const void* x = nullptr;
  void* y = nullptr;
  at::ScalarType dtype = at::kFloat;
  std::int64_t rows = 0;
  std::int64_t row_elements = 0;          // with offsets: of each of x's `items`
  const std::int64_t* offsets = nullptr;  // device; or null: rows of one length
  std::int64_t items = 0;
  double p = 0;
  const std::int64_t* counters = nullptr;  // device
  std::int64_t layer = 0;
};
using DropoutKernel = void (*)(const DropoutArguments&);  // on the current stream
void register_cuda_dropout(DropoutKernel kernel);

}  // namespace lockstep
