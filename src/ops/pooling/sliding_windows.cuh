// How kernels traverse windows of images that may overlap.
#pragma once

#include "ops/shared/device/voxels.cuh"

#include <climits>
#include <cstdint>

namespace lockstep {

constexpr int sliding_threads = 256;

// For W channels: the place of the maximum in its window.
template <int W>
struct alignas(W) SlidingPlaces {
  std::uint8_t value[W];
};

// The results whose windows contain element `at`, along one axis.
struct Holding {
  int first, last;
  __device__ Holding(int at, int window, int stride, int padding, int results) {
    const int from = at + padding - window + 1;
    first = from <= 0 ? 0 : (from + stride - 1) / stride;
    last = min((at + padding) / stride + 1, results);
  }
};

// Adds the gradients of all windows that contain element (y, x), for W channels from `channel` on.
// down: the windows that contain the element's line.
template <class T, int W>
__device__ void add_windows(const SlidingPool& pool, const Holding& down, std::int64_t row, int y,
                            int x, int channel, const std::uint8_t* places, const void* of_y,
                            float (&sums)[W]) {
  const auto channels = static_cast<int>(pool.channels);
  const Holding across(x, pool.window[1], pool.stride[1], pool.padding[1], pool.out_width);
  for (int out_y = down.first; out_y < down.last; ++out_y)
    for (int out_x = across.first; out_x < across.last; ++out_x) {
      const std::int64_t result =
          ((row * pool.out_height + out_y) * pool.out_width + out_x) * channels + channel;
      const auto where = *reinterpret_cast<const SlidingPlaces<W>*>(places + result);
      const auto up = Pack<T, W>::at(static_cast<const T*>(of_y) + result);
      const int own = (y + pool.padding[0] - out_y * pool.stride[0]) * pool.window[1] + x +
                      pool.padding[1] - out_x * pool.stride[1];
#pragma unroll
      for (int c = 0; c < W; ++c)
        if (where.value[c] == own) sums[c] += up[c];
    }
}

// Calls `function` with an element type, a vector width as a type, and the number of blocks, one
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
