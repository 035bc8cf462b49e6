// Max pooling with windows that do not overlap. A thread handles W channels of a window. It loads
// the whole window before it compares. In backward it writes all of the window. A block handles a
// line of windows.
#include "ops/pooling/window_pool_launch.h"
#include "ops/shared/device/voxels.cuh"

namespace lockstep {
namespace {

constexpr int window_threads = 128;
constexpr int most_places = static_cast<int>(window_pool_most_places);
constexpr std::uint8_t nowhere = 255;

template <int W>
struct alignas(W) Places {
  std::uint8_t value[W];
};

// The sides of a window. They are known at compile time, or vary with at most eight places per
// window.
template <int depth_in, int height_in, int width_in>
struct Window {
  static constexpr int most = depth_in * height_in * width_in;
  __device__ explicit Window(const WindowPool&) {}
  __device__ static constexpr int depth() { return depth_in; }
  __device__ static constexpr int height() { return height_in; }
  __device__ static constexpr int width() { return width_in; }
  __device__ static constexpr int places() { return most; }
};
struct AnyWindow {
  static constexpr int most = most_places;
  int sides[3];
  __device__ explicit AnyWindow(const WindowPool& pool)
      : sides{pool.window[0], pool.window[1], pool.window[2]} {}
  __device__ int depth() const { return sides[0]; }
  __device__ int height() const { return sides[1]; }
  __device__ int width() const { return sides[2]; }
  __device__ int places() const { return sides[0] * sides[1] * sides[2]; }
};

__host__ __device__ inline std::int64_t windows_along(std::int64_t size, int side, bool all) {
  return (size + (all ? side - 1 : 0)) / side;
}

// A line of windows. all: also counts windows that extend beyond x.
struct Line {
  std::int64_t row, z, y;
  bool filled;  // x fills the windows along depth and height

  template <class Sides>
  __device__ Line(const WindowPool& pool, const Sides& sides, bool all) {
    const std::int64_t planes = windows_along(pool.depth, sides.depth(), all),
                       lines = windows_along(pool.height, sides.height(), all);
    y = blockIdx.x % lines;
    z = blockIdx.x / lines % planes;
    row = blockIdx.x / lines / planes;
    filled = (z + 1) * sides.depth() <= pool.depth && (y + 1) * sides.height() <= pool.height;
  }
};

// Finds the first element of a place in window x of a line. `step` is the distance between
// neighbouring places, in elements. Returns whether x has this place.
template <class Sides>
__device__ bool place_in_window(const WindowPool& pool, const Sides& sides, const Line& line, int x,
                                int place, std::int64_t step, std::int64_t& element) {
  const int of_plane = sides.height() * sides.width();
  const std::int64_t at_z = line.z * sides.depth() + place / of_plane,
                     at_y = line.y * sides.height() + place % of_plane / sides.width(),
                     at_x = std::int64_t{x} * sides.width() + place % sides.width();
  element = (((line.row * pool.depth + at_z) * pool.height + at_y) * pool.width + at_x) * step;
  return place < sides.places() && at_z < pool.depth && at_y < pool.height && at_x < pool.width;
}

// The index of the result of a window that lies completely in x.
template <class Sides>
__device__ std::int64_t result_of(const WindowPool& pool, const Sides& sides, const Line& line,
                                  int x) {
  const std::int64_t planes = pool.depth / sides.depth(), lines = pool.height / sides.height();
  return (((line.row * planes + line.z) * lines + line.y) * (pool.width / sides.width()) + x) *
         pool.channels;
}

template <class T, int W, class Sides>
__global__ void __launch_bounds__(window_threads) window_pool_kernel(WindowPoolForward launch) {
  const WindowPool& pool = launch.pool;
  const Sides sides(pool);
  const Line line(pool, sides, /*all=*/false);
  const int groups = static_cast<int>(pool.channels / W);
  const int count = static_cast<int>(pool.width / sides.width()) * groups;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += window_threads) {
    const int x = i / groups, channel = i % groups * W;
    Pack<T, W> window[Sides::most];
#pragma unroll
    for (int p = 0; p < Sides::most; ++p) {
      std::int64_t element = 0;
      if (place_in_window(pool, sides, line, x, p, pool.channels, element))
        window[p] = Pack<T, W>::at(static_cast<const T*>(launch.x) + element + channel);
    }
    Pack<T, W> largest = window[0];
    Places<W> where{};
#pragma unroll
    for (int p = 1; p < Sides::most; ++p) {
      if (p >= sides.places()) continue;
#pragma unroll
      for (int c = 0; c < W; ++c) {
        const float value = window[p][c];
        if (value > largest[c] || value != value) {
          largest.value[c] = window[p].value[c];
          where.value[c] = static_cast<std::uint8_t>(p);
        }
      }
    }
    const std::int64_t result = result_of(pool, sides, line, x) + channel;
    largest.store(static_cast<T*>(launch.y) + result);
    *reinterpret_cast<Places<W>*>(launch.places + result) = where;
  }
}

template <class T, int W, class Sides>
__global__ void __launch_bounds__(window_threads)
    window_pool_gradient_kernel(WindowPoolBackward launch) {
  const WindowPool& pool = launch.pool;
  const Sides sides(pool);
  const Line line(pool, sides, /*all=*/true);
  const int groups = static_cast<int>(pool.channels / W);
  const int filled = static_cast<int>(pool.width / sides.width());
  const int count =
      static_cast<int>(windows_along(pool.width, sides.width(), /*all=*/true)) * groups;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += window_threads) {
    const int x = i / groups, channel = i % groups * W;
    Pack<T, W> beside[Sides::most], up{};
    if (launch.of_through != nullptr)
#pragma unroll
      for (int p = 0; p < Sides::most; ++p) {
        std::int64_t element = 0;
        if (place_in_window(pool, sides, line, x, p, launch.through_step, element))
          beside[p] = Pack<T, W>::at(static_cast<const T*>(launch.of_through) + element + channel);
      }
    Places<W> where;
#pragma unroll
    for (int c = 0; c < W; ++c) where.value[c] = nowhere;
    if (line.filled && x < filled) {
      const std::int64_t result = result_of(pool, sides, line, x) + channel;
      up = Pack<T, W>::at(static_cast<const T*>(launch.of_y) + result);
      where = *reinterpret_cast<const Places<W>*>(launch.places + result);
    }
#pragma unroll
    for (int p = 0; p < Sides::most; ++p) {
      std::int64_t element = 0;
      if (!place_in_window(pool, sides, line, x, p, pool.channels, element)) continue;
      Pack<T, W> result;
#pragma unroll
      for (int c = 0; c < W; ++c) {
        float gradient = where.value[c] == p ? up[c] : 0.0F;
        if (launch.of_through != nullptr) gradient += beside[p][c];
        result.value[c] = from_float<T>(gradient);
      }
      result.store(static_cast<T*>(launch.of_x) + element + channel);
    }
  }
}

// Calls `function` with an element, the vector width and the sides of a window as types, and with
// the number of blocks.
template <class Sides>
struct Kind {
  using type = Sides;
};
template <class Function>
cudaError_t with_lines(const WindowPool& pool, bool all, const Function& function) {
  const auto& [depth, height, width] = pool.window;
  const std::int64_t lines =
      pool.rows * windows_along(pool.depth, depth, all) * windows_along(pool.height, height, all);
  if (lines > INT_MAX) return cudaErrorInvalidConfiguration;
  if (depth * height * width > most_places || pool.width * pool.channels > window_pool_most_line)
    return cudaErrorInvalidValue;
  if (lines == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(lines);
  return with_type(pool.dtype, [&](auto element) {
    if (!pool.vectors) return function(element, Width<1>(), Kind<AnyWindow>(), blocks);
    if (height == 2 && width == 2 && depth == 2)
      return function(element, Width<8>(), Kind<Window<2, 2, 2>>(), blocks);
    if (height == 2 && width == 2 && depth == 1)
      return function(element, Width<8>(), Kind<Window<1, 2, 2>>(), blocks);
    return function(element, Width<8>(), Kind<AnyWindow>(), blocks);
  });
}

}  // namespace

cudaError_t launch_window_pool_forward(const WindowPoolForward& launch, cudaStream_t stream) {
  return with_lines(
      launch.pool, /*all=*/false, [&](auto element, auto vector, auto kind, unsigned blocks) {
        using T = decltype(element);
        using Sides = typename decltype(kind)::type;
        constexpr int W = decltype(vector)::value;
        window_pool_kernel<T, W, Sides><<<blocks, window_threads, 0, stream>>>(launch);
        return cudaGetLastError();
      });
}

cudaError_t launch_window_pool_backward(const WindowPoolBackward& launch, cudaStream_t stream) {
  return with_lines(
      launch.pool, /*all=*/true, [&](auto element, auto vector, auto kind, unsigned blocks) {
        using T = decltype(element);
        using Sides = typename decltype(kind)::type;
        constexpr int W = decltype(vector)::value;
        window_pool_gradient_kernel<T, W, Sides><<<blocks, window_threads, 0, stream>>>(launch);
        return cudaGetLastError();
      });
}

}  // namespace lockstep
