// Arguments of the kernels of linear_of_rows.h: plain pointers and sizes, for sources with and
// without torch.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

constexpr std::int64_t head_most_outputs = 16, head_most_rows = 256;

// Everything is on the device, dense by rows and aligned to 16 bytes. width is a multiple of eight.
struct HeadArguments {
  const void *hidden = nullptr, *weight = nullptr;  // [all, width], [outputs, width]
  const std::int64_t* rows = nullptr;  // [count]: one that is not below `all` stops the device
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t all = 0, count = 0, outputs = 0, width = 0;
};
struct HeadForward {
  HeadArguments shared;
  const void* bias = nullptr;  // [outputs], or null
  void* out = nullptr;         // [count, outputs]
};
struct HeadBackward {
  HeadArguments shared;
  const void* of_out = nullptr;                    // [count, outputs]
  const void* other = nullptr;                     // [all, width]: added to of_hidden; or null
  void* of_hidden = nullptr;                       // [all, width]: all of it is written
  float *of_weight = nullptr, *of_bias = nullptr;  // gradients are added to them; or null
};

}  // namespace lockstep
