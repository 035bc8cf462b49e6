// Launches the dropout kernel from plain C++: pointers, sizes and a stream.
#pragma once

#include "ops/philox/philox_inline.h"
#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep {

// x, y: [rows, row_elements] on the device, aligned to an element; y may be x. counters: i64 [3] on
// the device. With offsets, i64 [rows + 1] on the device, x and y are [items, row_elements]. Row b
// then consists of items offsets[b] to offsets[b + 1] - 1. Items after the last row become 0.
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

// Whether this library holds code for the current device.
bool dropout_runs_here();

// It only enqueues, and neither synchronises nor allocates. So it can be captured into a graph.
cudaError_t launch_dropout(const DropoutLaunch& launch, cudaStream_t stream);

}  // namespace lockstep
