// Computes dropout with a mask that depends only on seed, step, layer, the row's index in the
// global batch, and the element.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns y = x * mask / (1 - p), contiguous and differentiable in x. Backward computes the mask
// again, so the mask is not kept.
//   x          [B, ...], floating
//   counters   i64 [3] on x's device: seed, step, first_global_row
//   layer      a number that is different for each dropout of a model
// Element e of row b is kept if word e % 4 of
//   philox(counter = {e / 4, first_global_row + b, step, layer}, key = seed * 2 + 1)
// is at least p * 2^32. Only the low 32 bits of each counter are used. The CPU uses a loop over
// rows. GPUs use the registered kernel, or ATen's operators if no kernel is registered.
at::Tensor dropout(const at::Tensor& x, double p, const at::Tensor& counters, std::int64_t layer);

// Computes dropout for concatenated rows of different lengths, such as the ragged fields of
// training/data/collate.h.
//   x         [N, ...]
//   offsets   i32|i64 [B + 1] on x's device, from 0 to at most N
// Row b is x[offsets[b]] to x[offsets[b + 1] - 1]. The elements of a row are numbered from the
// beginning of the row. So the mask of a row does not depend on where the row is in x. Elements of
// x from the last offset on belong to no row and become 0. Invalid offsets throw Error on the CPU.
// They are not checked on GPUs, because a check would wait for the device.
at::Tensor ragged_dropout(const at::Tensor& x, const at::Tensor& offsets, double p,
                          const at::Tensor& counters, std::int64_t layer);

// The parameters of one dropout, for operations that include a dropout. The mask is that of
// `dropout`, or, if offsets are defined, that of `ragged_dropout`. If p is 0, there is no dropout.
struct DropoutDraw {
  double p = 0;
  at::Tensor counters, offsets;  // offsets is undefined for rows of one length
  std::int64_t layer = 0;
};
at::Tensor dropout(const at::Tensor& x, const DropoutDraw& draw);

struct DropoutArguments {
  const void* x = nullptr;
  void* y = nullptr;
  at::ScalarType dtype = at::kFloat;
  std::int64_t rows = 0;
  std::int64_t row_elements = 0;          // elements of a row; with offsets: of x[i]
  const std::int64_t* offsets = nullptr;  // on the device; null for rows of one length
  std::int64_t items = 0;
  double p = 0;
  const std::int64_t* counters = nullptr;  // on the device
  std::int64_t layer = 0;
};
using DropoutKernel = void (*)(const DropoutArguments&);  // runs on the current stream
void register_cuda_dropout(DropoutKernel kernel);

}  // namespace lockstep
