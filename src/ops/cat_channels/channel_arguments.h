// Arguments of kernels that concatenate channels: plain pointers and sizes, for sources with and
// without torch.
#pragma once

#include <cstdint>

namespace lockstep {

// Two tensors and the one that has the channels of both, all channels-last and aligned to 16 bytes:
// rows, one per element in space, of so many bytes.
struct CatChannels {
  void *a = nullptr, *b = nullptr;  // taken apart: either may be null, and is not written then
  void* both = nullptr;
  std::int64_t rows = 0, a_bytes = 0, b_bytes = 0;  // a row of `both` has the sum
};
// Most bytes of a row of `both`.
constexpr std::int64_t cat_channels_most_bytes = 1 << 30;

}  // namespace lockstep
