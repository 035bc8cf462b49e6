// The largest of windows that do not overlap. A thread has a window of eight channels: it reads all
// of it before it compares, and in backward writes all of it. A block has a line of windows.
#include "cuda/voxels.cuh"
#include "cuda/window_pool_launch.h"

namespace lockstep {
namespace {

constexpr int side = 2, most_places = side * side * side, window_threads = 128;

struct alignas(8) Places {
  std::uint8_t value[8];
};

template <bool flat>
constexpr int places_of = flat ? side* side : most_places;

// A line of windows: those of x with an end, or with every element that x has.
struct Line {
  std::int64_t row, z, y;  // of the window
  bool whole;              // the windows have an end along depth and height

  __device__ Line(const WindowPool& pool, bool all) {
    const int deep = pool.flat ? 1 : side;
    const std::int64_t more = all ? side - 1 : 0;
    const std::int64_t planes = (pool.depth + (all ? deep - 1 : 0)) / deep,
                       lines = (pool.height + more) / side;
    y = blockIdx.x % lines;
    z = blockIdx.x / lines % planes;
    row = blockIdx.x / lines / planes;
    whole = (z + 1) * deep <= pool.depth && (y + 1) * side <= pool.height;
  }
};

// The first element of a place of the window (z, y, x) of the line's row; `step` elements lie from
// place to place. Whether x has it.
template <bool flat>
__device__ bool place_in_window(const WindowPool& pool, const Line& line, std::int64_t x, int place,
                                std::int64_t step, std::int64_t& element) {
  const std::int64_t at_z = flat ? line.z : line.z * side + place / (side * side);
  const std::int64_t at_y = line.y * side + place / side % side, at_x = x * side + place % side;
  element = (((line.row * pool.depth + at_z) * pool.height + at_y) * pool.width + at_x) * step;
  return at_z < pool.depth && at_y < pool.height && at_x < pool.width;
}

// Of the result of a window.
__device__ inline std::int64_t result_of(const WindowPool& pool, const Line& line, std::int64_t x) {
  const std::int64_t deep = pool.flat ? 1 : side;
  return (((line.row * (pool.depth / deep) + line.z) * (pool.height / side) + line.y) *
              (pool.width / side) +
          x) *
         pool.channels;
}

template <class T, bool flat>
__global__ void __launch_bounds__(window_threads) window_pool_kernel(WindowPoolForward launch) {
  constexpr int places = places_of<flat>;
  const WindowPool& pool = launch.pool;
  const Line line(pool, /*all=*/false);
  const int groups = static_cast<int>(pool.channels / 8);
  const int count = static_cast<int>(pool.width / side) * groups;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += window_threads) {
    const int x = i / groups, channel = i % groups * 8;
    Pack<T, 8> window[places];
#pragma unroll
    for (int p = 0; p < places; ++p) {
      std::int64_t element = 0;
      place_in_window<flat>(pool, line, x, p, pool.channels, element);
      window[p] = Pack<T, 8>::at(static_cast<const T*>(launch.x) + element + channel);
    }
    Pack<T, 8> largest = window[0];
    Places where{};
#pragma unroll
    for (int p = 1; p < places; ++p)
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const float value = window[p][c];
        if (value > largest[c] || value != value) {
          largest.value[c] = window[p].value[c];
          where.value[c] = static_cast<std::uint8_t>(p);
        }
      }
    const std::int64_t result = result_of(pool, line, x) + channel;
    largest.store(static_cast<T*>(launch.y) + result);
    *reinterpret_cast<Places*>(launch.places + result) = where;
  }
}

template <class T, bool flat>
__global__ void __launch_bounds__(window_threads)
    window_pool_gradient_kernel(WindowPoolBackward launch) {
  constexpr int places = places_of<flat>;
  const WindowPool& pool = launch.pool;
  const Line line(pool, /*all=*/true);
  const int groups = static_cast<int>(pool.channels / 8);
  const int windows = static_cast<int>(pool.width / side);
  const int count = static_cast<int>((pool.width + side - 1) / side) * groups;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += window_threads) {
    const int x = i / groups, channel = i % groups * 8;
    Pack<T, 8> beside[places], up{};
    if (launch.of_through != nullptr)
#pragma unroll
      for (int p = 0; p < places; ++p) {
        std::int64_t element = 0;
        if (place_in_window<flat>(pool, line, x, p, launch.through_step, element))
          beside[p] = Pack<T, 8>::at(static_cast<const T*>(launch.of_through) + element + channel);
      }
    Places where{{255, 255, 255, 255, 255, 255, 255, 255}};
    if (line.whole && x < windows) {
      const std::int64_t result = result_of(pool, line, x) + channel;
      up = Pack<T, 8>::at(static_cast<const T*>(launch.of_y) + result);
      where = *reinterpret_cast<const Places*>(launch.places + result);
    }
#pragma unroll
    for (int p = 0; p < places; ++p) {
      std::int64_t element = 0;
      if (!place_in_window<flat>(pool, line, x, p, pool.channels, element)) continue;
      Pack<T, 8> result;
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        float gradient = where.value[c] == p ? up[c] : 0.0F;
        if (launch.of_through != nullptr) gradient += beside[p][c];
        result.value[c] = from_float<T>(gradient);
      }
      result.store(static_cast<T*>(launch.of_x) + element + channel);
    }
  }
}

// Calls `function` with an element as a type, whether windows are flat as another, and the number
// of blocks.
template <bool flat_in>
struct Flat {
  static constexpr bool value = flat_in;
};
template <class Function>
cudaError_t with_lines(const WindowPool& pool, bool all, const Function& function) {
  const std::int64_t deep = pool.flat ? 1 : side;
  const std::int64_t planes = (pool.depth + (all ? deep - 1 : 0)) / deep;
  const std::int64_t blocks = pool.rows * planes * ((pool.height + (all ? side - 1 : 0)) / side);
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  if (blocks == 0) return cudaSuccess;
  return with_type(pool.dtype, [&](auto element) {
    return pool.flat ? function(element, Flat<true>(), static_cast<unsigned>(blocks))
                     : function(element, Flat<false>(), static_cast<unsigned>(blocks));
  });
}

}  // namespace

cudaError_t launch_window_pool_forward(const WindowPoolForward& launch, cudaStream_t stream) {
  return with_lines(launch.pool, /*all=*/false, [&](auto element, auto flat, unsigned blocks) {
    using T = decltype(element);
    constexpr bool is_flat = decltype(flat)::value;
    window_pool_kernel<T, is_flat><<<blocks, window_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_window_pool_backward(const WindowPoolBackward& launch, cudaStream_t stream) {
  return with_lines(launch.pool, /*all=*/true, [&](auto element, auto flat, unsigned blocks) {
    using T = decltype(element);
    constexpr bool is_flat = decltype(flat)::value;
    window_pool_gradient_kernel<T, is_flat><<<blocks, window_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
