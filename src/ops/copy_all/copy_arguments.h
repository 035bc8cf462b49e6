// Arguments of the kernel of ops/copy_all/copy_all.h. This header does not include torch, so CUDA
// sources can include it.
#pragma once

#include <cstdint>

namespace lockstep {

// The conversion of the elements: bytes as they are, bf16 or f16 to f32, or f32 to bf16.
enum class CopyKind { bytes, from_bf16, from_f16, to_bf16 };

// One copy in device memory. `from` and `to` must not overlap. If elements are converted, both must
// be aligned to 16 bytes. `blocks` is the number of thread blocks for all earlier ranges of the
// launch.
struct CopyRange {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;  // size of `from`
  std::int64_t blocks = 0;
  CopyKind kind = CopyKind::bytes;
};
constexpr std::int64_t copy_block_bytes = 16384;  // bytes of `from` for each thread block
constexpr int most_copies = 32;                   // largest number of copies per launch
struct CopyLaunch {
  CopyRange ranges[most_copies];
  int count = 0;
  std::int64_t blocks = 0;  // number of thread blocks of all ranges
};

}  // namespace lockstep
