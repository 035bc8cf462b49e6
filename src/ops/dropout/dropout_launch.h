// Lets plain C++ code launch the dropout kernel.
#pragma once

#include "ops/philox/philox_inline.h"
#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep {

// The arguments of the kernel. All pointers are to device memory. x and y are [rows, row_elements],
// aligned to an element; y may be x. counters and layer are as in ops/dropout/dropout.h.
//
// offsets: i64 [rows + 1], or null. If it is not null, rows have different lengths. x and y are
// then [items, row_elements], and row_elements is the number of elements of one item. Row b
// consists of the items offsets[b] to offsets[b + 1] - 1. Items after the last row become 0.
struct DropoutLaunch {
  const void* x = nullptr;
  void* y = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, row_elements = 0;
  const std::int64_t* offsets = nullptr;
  std::int64_t items = 0;
  DropoutRule rule;
  const std::int64_t* counters = nullptr;
  std::int64_t layer = 0;
};

// Whether this library has the kernel's code for the current device.
bool dropout_runs_here();

// The function only enqueues work, so it can be captured into a graph. It neither synchronises nor
// allocates.
cudaError_t launch_dropout(const DropoutLaunch& launch, cudaStream_t stream);

}  // namespace lockstep
