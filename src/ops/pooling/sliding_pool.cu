// Max pooling of images with windows that may overlap. In forward, a thread computes W channels of
// a result. In backward, it computes W channels of an element of x from all windows that contain
// it. So there are no atomic additions. A block handles a line.
#include "ops/pooling/sliding_pool_launch.h"
#include "ops/pooling/sliding_windows.cuh"

namespace lockstep {
namespace {

template <class T, int W>
__global__ void __launch_bounds__(sliding_threads) sliding_pool_kernel(SlidingPoolForward launch) {
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const std::int64_t row = blockIdx.x / pool.out_height;
  const int out_y = static_cast<int>(blockIdx.x % pool.out_height);
  const int top = out_y * pool.stride[0] - pool.padding[0];
  const int first_y = max(top, 0), last_y = min(top + pool.window[0], pool.height);
  const auto* const from =
      static_cast<const T*>(launch.x) + row * pool.height * pool.width * channels;
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * pool.out_width * channels;
  for (int i = static_cast<int>(threadIdx.x); i < pool.out_width * groups; i += sliding_threads) {
    const int channel = i % groups * W;
    const int left = i / groups * pool.stride[1] - pool.padding[1];
    const int first_x = max(left, 0), last_x = min(left + pool.window[1], pool.width);
    Pack<T, W> largest;
    SlidingPlaces<W> where{};
#pragma unroll
    for (int c = 0; c < W; ++c) largest.value[c] = from_float<T>(-INFINITY);
    // The first of equal values is chosen, as in ATen. If all values are −inf, the first place is
    // chosen.
    bool none = true;
    for (int y = first_y; y < last_y; ++y)
      for (int x = first_x; x < last_x; ++x, none = false) {
        const auto values = Pack<T, W>::at(
            from + (static_cast<std::int64_t>(y) * pool.width + x) * channels + channel);
        const auto place = static_cast<std::uint8_t>((y - top) * pool.window[1] + x - left);
#pragma unroll
        for (int c = 0; c < W; ++c) {
          const float value = values[c];
          if (none || value > largest[c] || value != value) {
            largest.value[c] = values.value[c];
            where.value[c] = place;
          }
        }
      }
    const std::int64_t result = line + i / groups * channels + channel;
    largest.store(static_cast<T*>(launch.y) + result);
    *reinterpret_cast<SlidingPlaces<W>*>(launch.places + result) = where;
  }
}

template <class T, int W>
__global__ void __launch_bounds__(sliding_threads)
    sliding_pool_gradient_kernel(SlidingPoolBackward launch) {
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const std::int64_t row = blockIdx.x / pool.height;
  const int y = static_cast<int>(blockIdx.x % pool.height);
  const Holding down(y, pool.window[0], pool.stride[0], pool.padding[0], pool.out_height);
  for (int i = static_cast<int>(threadIdx.x); i < pool.width * groups; i += sliding_threads) {
    const int channel = i % groups * W, x = i / groups;
    float sums[W] = {};
    add_windows<T, W>(pool, down, row, y, x, channel, launch.places, launch.of_y, sums);
    Pack<T, W> of_x;
#pragma unroll
    for (int c = 0; c < W; ++c) of_x.value[c] = from_float<T>(sums[c]);
    of_x.store(static_cast<T*>(launch.of_x) +
               (static_cast<std::int64_t>(blockIdx.x) * pool.width + x) * channels + channel);
  }
}

}  // namespace

cudaError_t launch_sliding_pool_forward(const SlidingPoolForward& launch, cudaStream_t stream) {
  const SlidingPool& pool = launch.pool;
  return with_sliding_lines(pool, pool.rows * pool.out_height,
                            [&](auto element, auto vector, unsigned blocks) {
                              sliding_pool_kernel<decltype(element), decltype(vector)::value>
                                  <<<blocks, sliding_threads, 0, stream>>>(launch);
                              return cudaGetLastError();
                            });
}

cudaError_t launch_sliding_pool_backward(const SlidingPoolBackward& launch, cudaStream_t stream) {
  const SlidingPool& pool = launch.pool;
  return with_sliding_lines(
      pool, pool.rows * pool.height, [&](auto element, auto vector, unsigned blocks) {
        sliding_pool_gradient_kernel<decltype(element), decltype(vector)::value>
            <<<blocks, sliding_threads, 0, stream>>>(launch);
        return cudaGetLastError();
      });
}

}  // namespace lockstep
