// relu(norm(x)) of images, then max pooling with windows that may overlap. Forward: a thread
// computes W channels of a result. Backward: the sums are taken over the results, at the elements
// of x from which these come. Then a thread computes the gradient of some elements of x from all
// windows that contain them. So there are no atomic additions.
#include "ops/channel_norm/channel_norm_launch.h"
#include "ops/channel_norm/channel_norm_passes.cuh"
#include "ops/pooling/sliding_windows.cuh"
#include "ops/shared/device/early_launch.cuh"

namespace lockstep {
namespace {

// x, or -x if the channel's norm reverses the order of its elements.
template <int W>
__device__ float turned(float x, const ChannelFacts<W>& facts, int c) {
  return facts.factor[c] < 0 ? -x : x;
}

template <class T, int W>
__global__ void __launch_bounds__(sliding_threads, 2) pooled_norm_kernel(PooledNormForward launch) {
  let_the_next_begin();
  wait_for_those_before();
  constexpr int at_once = 3;  // elements of a window's line that are loaded before they are used
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const std::int64_t row = blockIdx.x / pool.out_height;
  const int out_y = static_cast<int>(blockIdx.x % pool.out_height);
  const int top = out_y * pool.stride[0] - pool.padding[0];
  const int first_y = max(top, 0), last_y = min(top + pool.window[0], pool.height);
  const auto* const from =
      static_cast<const T*>(launch.norm.x) + row * pool.height * pool.width * channels;
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * pool.out_width * channels;
  int loaded = -1;  // the channel of `facts`
  ChannelFacts<W> facts;
  for (int i = static_cast<int>(threadIdx.x); i < pool.out_width * groups; i += sliding_threads) {
    const int channel = i % groups * W;
    if (channel != loaded) facts = ChannelFacts<W>(launch.norm, channel);
    loaded = channel;
    const int left = i / groups * pool.stride[1] - pool.padding[1];
    const int first_x = max(left, 0), last_x = min(left + pool.window[1], pool.width);
    // The norm keeps or reverses the order of a channel's elements, so the largest can be found
    // before the norm. The norm may make elements equal, by a factor of 0 or by rounding. The one
    // that is chosen then has the largest x, or the smallest if the norm reverses the order.
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
          // reading the last element again changes nothing
          const int x = min(begin + u, last_x - 1);
          read[u] = Pack<T, W>::at(
              from + (static_cast<std::int64_t>(y) * pool.width + x) * channels + channel);
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int place = (y - top) * pool.window[1] + min(begin + u, last_x - 1) - left;
#pragma unroll
          for (int c = 0; c < W; ++c) {
            const float value = turned<W>(read[u][c], facts, c);
            // The first of equal elements of x is chosen.
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

constexpr std::uint8_t no_place = 255;

// The gradient of a pack of x.
template <class T, int W>
__device__ Pack<T, W> gradient_of(const Pack<T, W>& x, const float (&sums)[W],
                                  const ChannelFacts<W>& facts, const ChannelShares<W>& shares) {
  Pack<T, W> of_x;
#pragma unroll
  for (int c = 0; c < W; ++c) {
    const float apart = x[c] - facts.mean[c];
    const float gradient = facts.normed(apart, c) <= 0 ? 0.0F : sums[c];
    of_x.value[c] = from_float<T>(shares.gradient(gradient, apart, facts, c));
  }
  return of_x;
}

// For any windows. A thread computes W channels of an element of x.
template <class T, int W>
__global__ void __launch_bounds__(sliding_threads, 2)
    pooled_norm_gradient_kernel(PooledNormBackward launch) {
  let_the_next_begin();
  wait_for_those_before();
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const std::int64_t row = blockIdx.x / pool.height;
  const int y = static_cast<int>(blockIdx.x % pool.height);
  const Holding down(y, pool.window[0], pool.stride[0], pool.padding[0], pool.out_height);
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * pool.width * channels;
  for (int i = static_cast<int>(threadIdx.x); i < pool.width * groups; i += sliding_threads) {
    const int channel = i % groups * W, x = i / groups;
    float sums[W] = {};
    add_windows<T, W>(pool, down, row, y, x, channel, launch.places, launch.norm.of_y, sums);
    const std::int64_t at = line + static_cast<std::int64_t>(x) * channels + channel;
    gradient_of<T, W>(Pack<T, W>::at(static_cast<const T*>(launch.norm.x) + at), sums,
                      ChannelFacts<W>(launch.norm, channel), ChannelShares<W>(launch.norm, channel))
        .store(static_cast<T*>(launch.norm.of_x) + at);
  }
}

// For windows of 3 x 3 with stride 2 and padding 1. A thread handles a square of 2 x 2 elements,
// which four windows contain.
template <class T, int W>
__global__ void __launch_bounds__(sliding_threads, 2)
    pooled_norm_squares_kernel(PooledNormBackward launch) {
  let_the_next_begin();
  wait_for_those_before();
  const SlidingPool& pool = launch.pool;
  const auto channels = static_cast<int>(pool.channels), groups = channels / W;
  const std::int64_t row = blockIdx.x / pool.out_height;
  const int out_y = static_cast<int>(blockIdx.x % pool.out_height);
  int loaded = -1;  // the channel of `facts`
  ChannelFacts<W> facts;
  ChannelShares<W> shares;
  for (int i = static_cast<int>(threadIdx.x); i < pool.out_width * groups; i += sliding_threads) {
    const int channel = i % groups * W, out_x = i / groups;
    if (channel != loaded) {
      facts = ChannelFacts<W>(launch.norm, channel);
      shares = ChannelShares<W>(launch.norm, channel);
    }
    loaded = channel;
    const auto inside = [&](int dy, int dx) {
      return 2 * out_y + dy < pool.height && 2 * out_x + dx < pool.width;
    };
    const std::int64_t corner =
        ((row * pool.height + 2 * out_y) * pool.width + 2 * out_x) * channels + channel;
    const auto element = [&](int dy, int dx) {
      return corner + (static_cast<std::int64_t>(dy) * pool.width + dx) * channels;
    };
    SlidingPlaces<W> where[2][2];
    Pack<T, W> up[2][2], x[2][2];
#pragma unroll
    for (int dy = 0; dy < 2; ++dy)
#pragma unroll
      for (int dx = 0; dx < 2; ++dx) {
        const bool is_there = out_y + dy < pool.out_height && out_x + dx < pool.out_width;
        const std::int64_t result =
            ((row * pool.out_height + out_y + (is_there ? dy : 0)) * pool.out_width + out_x +
             (is_there ? dx : 0)) *
                channels +
            channel;
        where[dy][dx] = *reinterpret_cast<const SlidingPlaces<W>*>(launch.places + result);
        up[dy][dx] = Pack<T, W>::at(static_cast<const T*>(launch.norm.of_y) + result);
        if (!is_there)
#pragma unroll
          for (int c = 0; c < W; ++c) where[dy][dx].value[c] = no_place;
        x[dy][dx] = Pack<T, W>::at(static_cast<const T*>(launch.norm.x) +
                                   (inside(dy, dx) ? element(dy, dx) : corner));
      }
#pragma unroll
    for (int dy = 0; dy < 2; ++dy)
#pragma unroll
      for (int dx = 0; dx < 2; ++dx) {
        float sums[W] = {};
        // Line `dy` of the square is line 1 + dy of the first window. If dy is 1, it is also line 0
        // of the next window. The same holds for columns.
#pragma unroll
        for (int down = 0; down <= dy; ++down)
#pragma unroll
          for (int right = 0; right <= dx; ++right) {
            const int own = (down == 0 ? 1 + dy : 0) * 3 + (right == 0 ? 1 + dx : 0);
#pragma unroll
            for (int c = 0; c < W; ++c)
              if (where[down][right].value[c] == own) sums[c] += up[down][right][c];
          }
        if (inside(dy, dx))
          gradient_of<T, W>(x[dy][dx], sums, facts, shares)
              .store(static_cast<T*>(launch.norm.of_x) + element(dy, dx));
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
  bool by_squares = true;
  for (const int axis : {0, 1})
    by_squares =
        by_squares && pool.window[axis] == 3 && pool.stride[axis] == 2 && pool.padding[axis] == 1;
  return with_sliding_lines(
      pool, pool.rows * (by_squares ? pool.out_height : pool.height),
      [&](auto element, auto width, unsigned blocks) {
        using T = decltype(element);
        constexpr int W = decltype(width)::value;
        if (by_squares)
          launch_early(pooled_norm_squares_kernel<T, W>, blocks, sliding_threads, stream, launch);
        else
          launch_early(pooled_norm_gradient_kernel<T, W>, blocks, sliding_threads, stream, launch);
        return cudaGetLastError();
      });
}

}  // namespace lockstep
