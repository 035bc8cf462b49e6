// Windows of images that may overlap, and the gradient of their maximum in ATen's operators.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

// Each vector holds the height, then the width.
struct SlidingSides {
  std::vector<std::int64_t> window, stride, padding;

  SlidingSides(std::vector<std::int64_t> window, std::vector<std::int64_t> stride,
               std::vector<std::int64_t> padding)
      : window(std::move(window)), stride(std::move(stride)), padding(std::move(padding)) {}
  // The same value along both axes.
  SlidingSides(std::int64_t window, std::int64_t stride, std::int64_t padding)
      : window(2, window), stride(2, stride), padding(2, padding) {}
};

// The pool for x [N, C, H, W]. It has as many results as ATen's pool.
SlidingPool sliding_pool_of(at::IntArrayRef sizes, at::ScalarType type, const SlidingSides& sides);

// Computes the gradient of x from that of the result. places: u8, the place of each result in its
// window.
at::Tensor put_back(const at::Tensor& of_y, const at::Tensor& places, at::IntArrayRef sizes,
                    const SlidingSides& sides);

}  // namespace lockstep
