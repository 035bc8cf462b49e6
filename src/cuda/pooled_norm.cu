// relu(norm) and the largest of its windows, which may overlap, of images. Forward: a thread has a
// result of W channels, and norms what its window holds. Backward: the sums are taken over the
// results, of x where they come from; then a thread has a square of x, for which it looks through
// the windows that hold any of it, so that nothing is added by atomics.
#include "cuda/channel_norm_launch.h"
#include "cuda/channel_norm_passes.cuh"
#include "cuda/early_launch.cuh"
#include "cuda/sliding_windows.cuh"

namespace lockstep {
namespace {

// x, or -x where the channel's norm turns the order of its elements.
template <int W>
__device__ float turned(float x, const ChannelFacts<W>& facts, int c) {
  return facts.factor[c] < 0 ? -x : x;
}

template <class T, int W>
__global__ void __launch_bounds__(sliding_threads, 2) pooled_norm_kernel(PooledNormForward launch) {
  let_the_next_begin();
  wait_for_those_before();
  constexpr int at_once = 3;  // elements of a window's line that are read before they are used
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const std::int64_t row = blockIdx.x / pool.out_height;
  const int out_y = static_cast<int>(blockIdx.x % pool.out_height);
  const int top = out_y * pool.stride[0] - pool.padding[0];
  const int first_y = max(top, 0), last_y = min(top + pool.window[0], pool.height);
  const auto* const from =
      static_cast<const T*>(launch.norm.x) + row * pool.height * pool.width * channels;
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * pool.out_width * channels;
  int known = -1;
  ChannelFacts<W> facts;
  for (int i = static_cast<int>(threadIdx.x); i < pool.out_width * groups; i += sliding_threads) {
    const int channel = i % groups * W;
    if (channel != known) facts = ChannelFacts<W>(launch.norm, channel);
    known = channel;
    const int left = i / groups * pool.stride[1] - pool.padding[1];
    const int first_x = max(left, 0), last_x = min(left + pool.window[1], pool.width);
    // The norm keeps or turns the order of a channel's elements, so its largest is found before it.
    float largest[W];
    int where[W];
#pragma unroll
    for (int c = 0; c < W; ++c) {
      largest[c] = -INFINITY;
      where[c] = (first_y - top) * pool.window[1] + first_x - left;
    }
    for (int y = first_y; y < last_y; ++y)
      for (int begin = first_x; begin < last_x; begin += at_once) {
        Pack<T, W> read[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int x = min(begin + u, last_x - 1);  // the last one again changes nothing
          read[u] = Pack<T, W>::at(
              from + (static_cast<std::int64_t>(y) * pool.width + x) * channels + channel);
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int place = (y - top) * pool.window[1] + min(begin + u, last_x - 1) - left;
#pragma unroll
          for (int c = 0; c < W; ++c) {
            const float value = turned<W>(read[u][c], facts, c);
            // Of equal ones the first, as in ATen.
            if (value > largest[c] || value != value) {
              largest[c] = value;
              where[c] = place;
            }
          }
        }
      }
    Pack<T, W> result, at_largest;
    SlidingPlaces<W> places;
#pragma unroll
    for (int c = 0; c < W; ++c) {
      const float x = turned<W>(largest[c], facts, c);
      const float value = facts.normed(x - facts.mean[c], c);
      result.value[c] = from_float<T>(value <= 0 ? 0.0F : value);
      at_largest.value[c] = from_float<T>(x);
      places.value[c] = static_cast<std::uint8_t>(where[c]);
    }
    const std::int64_t at = line + i / groups * channels + channel;
    result.store(static_cast<T*>(launch.norm.y) + at);
    if (launch.places == nullptr) continue;
    at_largest.store(static_cast<T*>(launch.largest) + at);
    *reinterpret_cast<SlidingPlaces<W>*>(launch.places + at) = places;
  }
}

// side: of the squares of x.
template <class T, int W, int side>
__global__ void __launch_bounds__(sliding_threads, 2)
    pooled_norm_gradient_kernel(PooledNormBackward launch) {
  let_the_next_begin();
  wait_for_those_before();
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const int lines = (pool.height + side - 1) / side, across = (pool.width + side - 1) / side;
  const std::int64_t row = blockIdx.x / lines;
  const int y = static_cast<int>(blockIdx.x % lines) * side;
  const auto holding = [&](int axis, int at, int size, int results) {
    Holding windows(at, pool.window[axis], pool.stride[axis], pool.padding[axis], results);
    windows.last = Holding(min(at + side, size) - 1, pool.window[axis], pool.stride[axis],
                           pool.padding[axis], results)
                       .last;
    return windows;
  };
  const Holding down = holding(0, y, pool.height, pool.out_height);
  const auto* const of_y = static_cast<const T*>(launch.norm.of_y);
  int known = -1;
  ChannelFacts<W> facts;
  ChannelShares<W> shares;
  for (int i = static_cast<int>(threadIdx.x); i < across * groups; i += sliding_threads) {
    const int channel = i % groups * W, x = i / groups * side;
    if (channel != known) {
      facts = ChannelFacts<W>(launch.norm, channel);
      shares = ChannelShares<W>(launch.norm, channel);
    }
    known = channel;
    const auto element = [&](int dy, int dx) {
      return ((row * pool.height + y + dy) * pool.width + x + dx) * channels + channel;
    };
    const auto inside = [&](int dy, int dx) { return y + dy < pool.height && x + dx < pool.width; };
    Pack<T, W> values[side][side];
#pragma unroll
    for (int dy = 0; dy < side; ++dy)
#pragma unroll
      for (int dx = 0; dx < side; ++dx)
        if (inside(dy, dx))
          values[dy][dx] = Pack<T, W>::at(static_cast<const T*>(launch.norm.x) + element(dy, dx));
    const Holding right = holding(1, x, pool.width, pool.out_width);
    float sums[side][side][W] = {};
    constexpr int at_once = 2;  // windows that are read before they are used
    for (int out_y = down.first; out_y < down.last; ++out_y)
      for (int begin = right.first; begin < right.last; begin += at_once) {
        SlidingPlaces<W> where[at_once];
        Pack<T, W> up[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int out_x = min(begin + u, right.last - 1);
          const std::int64_t result =
              ((row * pool.out_height + out_y) * pool.out_width + out_x) * channels + channel;
          where[u] = *reinterpret_cast<const SlidingPlaces<W>*>(launch.places + result);
          up[u] = Pack<T, W>::at(of_y + result);
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          if (begin + u >= right.last) break;
          const int own_y = y + pool.padding[0] - out_y * pool.stride[0],
                    own_x = x + pool.padding[1] - (begin + u) * pool.stride[1];
#pragma unroll
          for (int dy = 0; dy < side; ++dy)
#pragma unroll
            for (int dx = 0; dx < side; ++dx) {
              const bool held = own_y + dy >= 0 && own_y + dy < pool.window[0] && own_x + dx >= 0 &&
                                own_x + dx < pool.window[1];
              const int own = held ? (own_y + dy) * pool.window[1] + own_x + dx : -1;
#pragma unroll
              for (int c = 0; c < W; ++c)
                if (where[u].value[c] == own) sums[dy][dx][c] += up[u][c];
            }
        }
      }
#pragma unroll
    for (int dy = 0; dy < side; ++dy)
#pragma unroll
      for (int dx = 0; dx < side; ++dx) {
        if (!inside(dy, dx)) continue;
        Pack<T, W> of_x;
#pragma unroll
        for (int c = 0; c < W; ++c) {
          const float apart = values[dy][dx][c] - facts.mean[c];
          const float gradient = facts.normed(apart, c) <= 0 ? 0.0F : sums[dy][dx][c];
          of_x.value[c] = from_float<T>(shares.gradient(gradient, apart, facts, c));
        }
        of_x.store(static_cast<T*>(launch.norm.of_x) + element(dy, dx));
      }
  }
}

}  // namespace

cudaError_t launch_pooled_norm_forward(const PooledNormForward& launch, cudaStream_t stream) {
  if (const cudaError_t error = launch_channel_moments(launch.norm, stream); error != cudaSuccess)
    return error;
  const SlidingPool& pool = launch.pool;
  return with_sliding_lines(
      pool, pool.rows * pool.out_height, [&](auto element, auto width, unsigned blocks) {
        launch_early(pooled_norm_kernel<decltype(element), decltype(width)::value>, blocks,
                     sliding_threads, stream, launch);
        return cudaGetLastError();
      });
}

cudaError_t launch_pooled_norm_backward(const PooledNormBackward& launch, cudaStream_t stream) {
  const SlidingPool& pool = launch.pool;
  if (are_sums_wanted(launch.norm)) {
    ChannelNormBackward of_results = launch.norm;
    of_results.x = launch.largest;
    of_results.taken_of = pool.rows * pool.height * pool.width;
    if (const cudaError_t error = launch_sums(of_results, stream); error != cudaSuccess)
      return error;
    if (const cudaError_t error = launch_finish_sums(of_results, stream); error != cudaSuccess)
      return error;
  }
  // Squares of two are held by the fewest windows where these are two apart.
  const bool by_squares = pool.stride[0] == 2 && pool.stride[1] == 2;
  const int side = by_squares ? 2 : 1;
  return with_sliding_lines(pool, pool.rows * ((pool.height + side - 1) / side),
                            [&](auto element, auto width, unsigned blocks) {
                              using T = decltype(element);
                              constexpr int W = decltype(width)::value;
                              if (by_squares)
                                launch_early(pooled_norm_gradient_kernel<T, W, 2>, blocks,
                                             sliding_threads, stream, launch);
                              else
                                launch_early(pooled_norm_gradient_kernel<T, W, 1>, blocks,
                                             sliding_threads, stream, launch);
                              return cudaGetLastError();
                            });
}

}  // namespace lockstep
