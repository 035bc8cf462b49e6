// Which elements of a flat buffer are dirty, that is, were ever added to (kernel_arguments.h).
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// touched null: unknown.
__device__ inline bool is_touched(const std::uint8_t* touched, std::int64_t element) {
  return touched == nullptr || touched[element / touched_piece] != 0;
}

__device__ inline void touch(std::uint8_t* touched, std::int64_t element) {
  if (touched == nullptr) return;
  std::uint8_t& flag = touched[element / touched_piece];
  if (flag == 0) flag = 1;  // read before writing, as most are set already
}

}  // namespace lockstep
