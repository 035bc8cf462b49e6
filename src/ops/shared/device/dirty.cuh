// Flags for the dirty elements of a flat buffer. An element is dirty if anything was ever added to
// its piece (kernel_arguments.h).
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// dirty: null if unknown.
__device__ inline bool is_dirty(const std::uint8_t* dirty, std::int64_t element) {
  return dirty == nullptr || dirty[element / dirty_piece] != 0;
}

__device__ inline void mark_dirty(std::uint8_t* dirty, std::int64_t element) {
  if (dirty == nullptr) return;
  std::uint8_t& flag = dirty[element / dirty_piece];
  if (flag == 0) flag = 1;  // reads before it writes, because most flags are already set
}

}  // namespace lockstep
