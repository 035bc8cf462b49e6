// What the kernel of kernels/copy_all.h is given, for sources with and without torch.
#pragma once

#include <cstdint>

namespace lockstep {

// Bytes on the device, in ranges that do not overlap; `blocks` counts those of the ranges before.
struct CopyRange {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};
constexpr std::int64_t copy_block_bytes = 16384;  // that a block copies
constexpr int most_copies = 32;                   // of a launch
struct CopyLaunch {
  CopyRange ranges[most_copies];
  int count = 0;
  std::int64_t blocks = 0;  // in all
};

}  // namespace lockstep
