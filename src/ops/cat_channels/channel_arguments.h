// Arguments of kernels that concatenate channels: plain pointers and sizes. This header does not
// include torch, so CUDA sources can include it.
#pragma once

#include <cstdint>

namespace lockstep {

// Two tensors a and b, and the tensor `both` with the channels of a and b. All three are
// channels-last, on the device and aligned to 16 bytes. Each has one row per spatial element.
struct CatChannels {
  void *a = nullptr, *b = nullptr;  // in a split, results; a null one is not written
  void* both = nullptr;
  std::int64_t rows = 0, a_bytes = 0, b_bytes = 0;  // bytes of a row; a row of `both` has the sum
};
// The largest number of bytes in a row of `both`.
constexpr std::int64_t cat_channels_most_bytes = 1 << 30;

}  // namespace lockstep
