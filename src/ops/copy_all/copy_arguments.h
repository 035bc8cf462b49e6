// Arguments of the kernel of ops/copy_all/copy_all.h, for sources with and without torch.
#pragma once

#include <cstdint>

namespace lockstep {

// The conversion of the elements: bytes as they are, bf16 or f16 to f32, or f32 to bf16.
enum class CopyKind { bytes, from_bf16, from_f16, to_bf16 };

// Memory on the device that does not overlap. It is aligned to 16 bytes if elements are converted.
// `blocks` counts the blocks of the ranges before.
struct CopyRange {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;  // of `from`
  std::int64_t blocks = 0;
  CopyKind kind = CopyKind::bytes;
};
constexpr std::int64_t copy_block_bytes = 16384;  // bytes that a block copies
constexpr int most_copies = 32;                   // per launch
struct CopyLaunch {
  CopyRange ranges[most_copies];
  int count = 0;
  std::int64_t blocks = 0;  // in all
};

}  // namespace lockstep
