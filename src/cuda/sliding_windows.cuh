// Windows of images that may overlap, as kernels look through them.
#pragma once

#include "cuda/voxels.cuh"

#include <climits>
#include <cstdint>

namespace lockstep {

constexpr int sliding_threads = 256;

// Of W channels, in their windows.
template <int W>
struct alignas(W) SlidingPlaces {
  std::uint8_t value[W];
};

// The results whose windows hold element `at`, along one axis.
struct Holding {
  int first, last;
  __device__ Holding(int at, int window, int stride, int padding, int results) {
    const int from = at + padding - window + 1;
    first = from <= 0 ? 0 : (from + stride - 1) / stride;
    last = min((at + padding) / stride + 1, results);
  }
};

// Calls `function` with an element and a width of vectors as types, and the number of blocks, one
// per line.
template <class Function>
cudaError_t with_sliding_lines(const SlidingPool& pool, std::int64_t lines,
                               const Function& function) {
  if (lines > INT_MAX) return cudaErrorInvalidConfiguration;
  if (pool.width * pool.channels > window_pool_most_line ||
      pool.window[0] * pool.window[1] > sliding_pool_most_places)
    return cudaErrorInvalidValue;
  if (lines == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(lines);
  return with_type(pool.dtype, [&](auto element) {
    return pool.channels % 8 == 0 ? function(element, Width<8>(), blocks)
                                  : function(element, Width<1>(), blocks);
  });
}

}  // namespace lockstep
