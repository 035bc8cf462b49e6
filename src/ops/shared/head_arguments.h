// Arguments of the kernels of linear_of_rows.h: plain pointers and sizes. This header does not
// include torch, so CUDA sources can include it. A member `of_x` is the gradient of x.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

constexpr std::int64_t head_most_outputs = 16, head_most_rows = 256;

// All pointers are to device memory. All matrices are contiguous and aligned to 16 bytes. width is
// a multiple of eight.
struct HeadArguments {
  const void *hidden = nullptr, *weight = nullptr;  // [all, width], [outputs, width]
  // [count]: the rows of `hidden` to read. An index of `all` or more fails a device-side assertion.
  const std::int64_t* rows = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t all = 0, count = 0, outputs = 0, width = 0;
};
struct HeadForward {
  HeadArguments shared;
  const void* bias = nullptr;  // [outputs]; may be null
  void* out = nullptr;         // [count, outputs]
};
struct HeadBackward {
  HeadArguments shared;
  const void* of_out = nullptr;  // [count, outputs]
  const void* other = nullptr;   // [all, width], is added to of_hidden; may be null
  void* of_hidden = nullptr;     // [all, width]; every element is written
  float *of_weight = nullptr, *of_bias = nullptr;  // gradients are added to the values; may be null
};

}  // namespace lockstep
