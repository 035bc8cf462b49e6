// Arguments of kernels that concatenate channels: plain pointers and sizes, for sources with and
// without torch.
#pragma once

#include <cstdint>

namespace lockstep {

// Two tensors and the tensor with the channels of both, all channels-last and aligned to 16 bytes.
// Each has one row per spatial element. a_bytes and b_bytes: bytes of a row.
struct CatChannels {
  void *a = nullptr, *b = nullptr;  // when split: either may be null, and is then not written
  void* both = nullptr;
  std::int64_t rows = 0, a_bytes = 0, b_bytes = 0;  // a row of `both` has the sum
};
// The largest number of bytes in a row of `both`.
constexpr std::int64_t cat_channels_most_bytes = 1 << 30;

}  // namespace lockstep
