// Helpers for max pooling of images over windows that may overlap. They describe the windows for
// the kernels, and compute the gradient with ATen's operators.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

// The windows of a pool. Each vector holds the value for the height, then the value for the width.
struct SlidingSides {
  std::vector<std::int64_t> window, stride, padding;

  SlidingSides(std::vector<std::int64_t> window, std::vector<std::int64_t> stride,
               std::vector<std::int64_t> padding)
      : window(std::move(window)), stride(std::move(stride)), padding(std::move(padding)) {}
  // Takes the same value for both axes.
  SlidingSides(std::int64_t window, std::int64_t stride, std::int64_t padding)
      : window(2, window), stride(2, stride), padding(2, padding) {}
};

// Returns the kernel arguments for pooling a tensor x with these sizes, [N, C, H, W]. The result
// has the same size as that of at::max_pool2d.
SlidingPool sliding_pool_of(at::IntArrayRef sizes, at::ScalarType type, const SlidingSides& sides);

// Returns the gradient of x, the tensor that was pooled, with ATen's operators.
//   of_y     the gradient of the result
//   places   u8: the index of each maximum within its window
//   sizes    the sizes of x
at::Tensor put_back(const at::Tensor& of_y, const at::Tensor& places, at::IntArrayRef sizes,
                    const SlidingSides& sides);

}  // namespace lockstep
