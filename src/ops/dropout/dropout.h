// Dropout whose mask is a pure function of (seed, step, layer, place, element).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns y = x * mask / (1 - p), differentiable in x. The backward pass draws the mask again, so
// that it need not be kept. x: [B, ...], f32|bf16|f16, contiguous. counters: i64 [3] on x's device
// (seed, step, first_global_row). Element e of row b is kept if word e % 4 of
//   philox(counter = {e / 4, first_global_row + b, step, layer}, key = seed * 2 + 1)   (low 32 bits
//   each)
// is >= p * 2^32. The CPU uses a loop over rows. CUDA uses the registered kernel, or ATen's
// operators without it.
at::Tensor dropout(const at::Tensor& x, double p, const at::Tensor& counters, std::int64_t layer);

// The same for concatenated rows of different lengths, such as the ragged fields of
// training/data/collate.h. Row b is x[offsets[b]] to x[offsets[b + 1] - 1], and its elements are
// numbered from its first one. So a row has the same mask wherever it lies. x: [N, ...]. offsets:
// i32|i64 [B + 1] on its device, from 0 to at most N. Elements from the last offset on belong to no
// row and become 0. Throws Error for other offsets, on the CPU only, because a check would wait for
// the GPU.
at::Tensor ragged_dropout(const at::Tensor& x, const at::Tensor& offsets, double p,
                          const at::Tensor& counters, std::int64_t layer);

// The parameters of one dropout, for operations that include a dropout. Its mask is that of
// `dropout`, or with offsets that of `ragged_dropout`. p == 0: no dropout.
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
  std::int64_t row_elements = 0;          // elements of a row; with offsets: of each of x's `items`
  const std::int64_t* offsets = nullptr;  // device; or null: rows of one length
  std::int64_t items = 0;
  double p = 0;
  const std::int64_t* counters = nullptr;  // device
  std::int64_t layer = 0;
};
using DropoutKernel = void (*)(const DropoutArguments&);  // runs on the current stream
void register_cuda_dropout(DropoutKernel kernel);

}  // namespace lockstep
