// Gates per channel and per place. The first pass of each direction needs all channels of a place,
// so neighbouring threads of a warp share them.
#include "ops/attention_gate/spatial_gate_launch.h"
#include "ops/shared/device/voxels.cuh"

namespace lockstep {
namespace {

__device__ inline float gate_at(const SpatialGateShape& shape, std::int64_t i) {
  switch (shape.channel_gate_dtype) {
    case KernelDtype::bf16:
      return to_float(static_cast<const __nv_bfloat16*>(shape.channel_gate)[i]);
    case KernelDtype::f16:
      return to_float(static_cast<const __half*>(shape.channel_gate)[i]);
    default:
      return static_cast<const float*>(shape.channel_gate)[i];
  }
}

// The number of threads of a warp that share a voxel's channels. It is a power of two. Each thread
// has W channels in each of `parts` parts.
inline int sharers_of(const VoxelLayout& layout) {
  const std::int64_t groups = layout.channels / (layout.vectors ? 8 : 1);
  int sharers = 1;
  while (sharers < groups && sharers < 32) sharers *= 2;
  return sharers;
}

// The voxels of a thread in its block's chunk, and its channels.
template <int W, int parts>
struct SharedPlace {
  std::int64_t row, chunk, voxel, end, step;  // voxels are `step` apart
  int sharer, sharers;

  __device__ SharedPlace(const VoxelLayout& layout, int sharers_in, bool backwards)
      : sharers(sharers_in) {
    const std::int64_t block = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    row = block / layout.chunks;
    chunk = block % layout.chunks;
    sharer = static_cast<int>(threadIdx.x) % sharers;
    step = voxel_threads / sharers;
    const std::int64_t most = (layout.voxels + layout.chunks - 1) / layout.chunks;
    voxel = chunk * most + static_cast<int>(threadIdx.x) / sharers;
    end = min(chunk * most + most, layout.voxels);
  }
  // The thread's first channel in this part. has() tells whether the part has channels for the
  // thread.
  __device__ std::int64_t channel(int part) const {
    return (part * std::int64_t{sharers} + sharer) * W;
  }
  __device__ bool has(int part, const VoxelLayout& layout) const {
    return channel(part) < layout.channels;
  }
  __device__ std::int64_t element(const VoxelLayout& layout, std::int64_t at, int part) const {
    return (row * layout.voxels + at) * layout.channels + channel(part);
  }
  __device__ void gates(const SpatialGateShape& shape, float (&to)[parts][W]) const {
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
      for (int i = 0; i < W; ++i)
        to[p][i] = has(p, shape.layout)
                       ? gate_at(shape, row * shape.layout.channels + channel(p) + i)
                       : 0.0F;
  }
};

__device__ inline float larger(float a, float b) { return b > a || b != b ? b : a; }

// The mean and the maximum of each voxel's gated channels. All lanes of a warp run the same number
// of turns.
template <class T, int W, int parts>
__global__ void __launch_bounds__(voxel_threads)
    maps_kernel(SpatialGateForward launch, int sharers) {
  constexpr int unroll = parts == 1 ? 4 : 1;
  const VoxelLayout& layout = launch.shape.layout;
  const SharedPlace<W, parts> place(layout, sharers, /*backwards=*/true);
  const auto* const x = static_cast<const T*>(launch.shape.x);
  float gates[parts][W];
  place.gates(launch.shape, gates);
  float* const means = launch.maps + place.row * 2 * layout.voxels;
  const float one_over = 1.0F / static_cast<float>(layout.channels);
  const std::int64_t stride = unroll * place.step;
  const std::int64_t block_end = place.end + static_cast<int>(threadIdx.x) / sharers;
  for (std::int64_t first = place.voxel; first < block_end; first += stride) {
    Pack<T, W> from[unroll][parts];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t voxel = first + u * place.step;
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (voxel < place.end && place.has(p, layout))
          from[u][p] = Pack<T, W>::at(x + place.element(layout, voxel, p));
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t voxel = first + u * place.step;
      float sum = 0, largest = -INFINITY;
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (voxel < place.end && place.has(p, layout))
#pragma unroll
          for (int i = 0; i < W; ++i) {
            const float value = from[u][p][i] * gates[p][i];
            sum += value;
            largest = larger(largest, value);
          }
      for (int lanes = sharers / 2; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, lanes);
        largest = larger(largest, __shfl_xor_sync(0xffffffffU, largest, lanes));
      }
      if (place.sharer != 0 || voxel >= place.end) continue;
      means[voxel] = sum * one_over;
      means[layout.voxels + voxel] = largest;
    }
  }
}

template <class T, int W>
__global__ void __launch_bounds__(voxel_threads) gate_kernel(SpatialGateForward launch) {
  constexpr int unroll = 4;
  const VoxelLayout& layout = launch.shape.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/false);
  if (place.turns == 0) return;
  float gates[W];
#pragma unroll
  for (int i = 0; i < W; ++i)
    gates[i] = gate_at(launch.shape, place.row * layout.channels + place.channel + i);
  const auto* const x = static_cast<const T*>(launch.shape.x);
  auto* const y = static_cast<T*>(launch.y);
  const float* at_place = launch.places + place.row * layout.voxels + place.voxel;
  const std::int64_t step = place.step(layout);
  std::int64_t element = place.element(layout);
  const auto put = [&](const Pack<T, W>& from, float of_place, std::int64_t at) {
    Pack<T, W> result;
#pragma unroll
    for (int i = 0; i < W; ++i) result.value[i] = from_float<T>(from[i] * gates[i] * of_place);
    result.store(y + at);
  };
  int left = place.turns;
  for (; left >= unroll;
       left -= unroll, element += unroll * step, at_place += unroll * place.lanes) {
    Pack<T, W> from[unroll];
    float of_place[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      from[u] = Pack<T, W>::at(x + element + u * step);
      of_place[u] = at_place[u * place.lanes];
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) put(from[u], of_place[u], element + u * step);
  }
  for (; left > 0; --left, element += step, at_place += place.lanes)
    put(Pack<T, W>::at(x + element), *at_place, element);
}

// The gradient of each place's gate before the sigmoid.
template <class T, int W, int parts>
__global__ void __launch_bounds__(voxel_threads)
    of_places_kernel(SpatialGateBackward launch, int sharers) {
  constexpr int unroll = parts == 1 ? 4 : 1;
  const VoxelLayout& layout = launch.shape.layout;
  const SharedPlace<W, parts> place(layout, sharers, /*backwards=*/true);
  const auto* const x = static_cast<const T*>(launch.shape.x);
  const auto* const of_y = static_cast<const T*>(launch.of_y);
  float gates[parts][W];
  place.gates(launch.shape, gates);
  const std::int64_t stride = unroll * place.step;
  const std::int64_t block_end = place.end + static_cast<int>(threadIdx.x) / sharers;
  for (std::int64_t first = place.voxel; first < block_end; first += stride) {
    Pack<T, W> from[unroll][parts], up[unroll][parts];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t voxel = first + u * place.step;
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (voxel < place.end && place.has(p, layout)) {
          from[u][p] = Pack<T, W>::at(x + place.element(layout, voxel, p));
          up[u][p] = Pack<T, W>::at(of_y + place.element(layout, voxel, p));
        }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t voxel = first + u * place.step;
      float sum = 0;
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (voxel < place.end && place.has(p, layout))
#pragma unroll
          for (int i = 0; i < W; ++i) sum += from[u][p][i] * gates[p][i] * up[u][p][i];
      for (int lanes = sharers / 2; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffffU, sum, lanes);
      if (place.sharer != 0 || voxel >= place.end) continue;
      const std::int64_t at = place.row * layout.voxels + voxel;
      launch.of_places[at] = sum * launch.places[at] * (1.0F - launch.places[at]);
    }
  }
}

// The gradient of x, and this chunk's share of the gradient of the channels' gates.
template <class T, int W, int parts>
__global__ void __launch_bounds__(voxel_threads)
    gate_gradient_kernel(SpatialGateBackward launch, int sharers) {
  constexpr int unroll = parts == 1 ? 2 : 1;
  const VoxelLayout& layout = launch.shape.layout;
  const SharedPlace<W, parts> place(layout, sharers, /*backwards=*/false);
  const auto* const x = static_cast<const T*>(launch.shape.x);
  const auto* const of_y = static_cast<const T*>(launch.of_y);
  auto* const of_x = static_cast<T*>(launch.of_x);
  float gates[parts][W], sums[parts][W] = {};
  place.gates(launch.shape, gates);
  const float one_over = 1.0F / static_cast<float>(layout.channels);
  const float* const all_largest = launch.maps + (place.row * 2 + 1) * layout.voxels;
  const float* const of_mean = launch.of_maps + place.row * 2 * layout.voxels;
  const float* const of_largest = of_mean + layout.voxels;
  const float* const places = launch.places + place.row * layout.voxels;
  const std::int64_t stride = unroll * place.step;
  const std::int64_t block_end = place.end + static_cast<int>(threadIdx.x) / sharers;
  for (std::int64_t first = place.voxel; first < block_end; first += stride) {
    Pack<T, W> from[unroll][parts], up[unroll][parts];
    float all[unroll], more[unroll], largest[unroll], gate[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t voxel = first + u * place.step;
      if (voxel >= place.end) continue;
      all[u] = of_mean[voxel] * one_over;
      more[u] = of_largest[voxel];
      largest[u] = all_largest[voxel];
      gate[u] = places[voxel];
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (place.has(p, layout)) {
          from[u][p] = Pack<T, W>::at(x + place.element(layout, voxel, p));
          up[u][p] = Pack<T, W>::at(of_y + place.element(layout, voxel, p));
        }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t voxel = first + u * place.step;
      const bool inside = voxel < place.end;
      int ties = 0;
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (inside && place.has(p, layout))
#pragma unroll
          for (int i = 0; i < W; ++i) ties += from[u][p][i] * gates[p][i] == largest[u] ? 1 : 0;
      for (int lanes = sharers / 2; lanes > 0; lanes /= 2)
        ties += __shfl_xor_sync(0xffffffffU, ties, lanes);
      if (!inside) continue;
      const float share = more[u] / static_cast<float>(ties);
#pragma unroll
      for (int p = 0; p < parts; ++p) {
        if (!place.has(p, layout)) continue;
        Pack<T, W> result;
#pragma unroll
        for (int i = 0; i < W; ++i) {
          const float value = from[u][p][i], gated = value * gates[p][i];
          const float gradient =
              up[u][p][i] * gate[u] + all[u] + (gated == largest[u] ? share : 0.0F);
          sums[p][i] += gradient * value;
          result.value[i] = from_float<T>(gradient * gates[p][i]);
        }
        result.store(of_x + place.element(layout, voxel, p));
      }
    }
  }
  VoxelPlace lanes;
  lanes.groups = sharers;
  lanes.lane = static_cast<int>(threadIdx.x) / sharers;
  lanes.lanes = voxel_threads / sharers;
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    float part[1][W];
#pragma unroll
    for (int i = 0; i < W; ++i) part[0][i] = sums[p][i];
    add_lanes(part, lanes);
    if (lanes.lane == 0 && place.has(p, layout))
      store_floats(part[0], launch.partial +
                                (place.row * layout.chunks + place.chunk) * layout.channels +
                                place.channel(p));
  }
}

template <class T>
__global__ void finish_gate_kernel(SpatialGateBackward launch) {
  __shared__ float shared[finish_lanes][32];
  const VoxelLayout& layout = launch.shape.layout;
  const Entries entries = entries_of(layout);
  float sum = 0;
  for (std::int64_t chunk = threadIdx.y; chunk < entries.count; chunk += finish_lanes)
    sum +=
        launch.partial[(entries.row * layout.chunks + chunk) * layout.channels + entries.channel];
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || entries.count == 0) return;
  for (int lane = 1; lane < finish_lanes; ++lane) sum += shared[lane][threadIdx.x];
  static_cast<T*>(launch.of_channel_gate)[entries.statistic] = from_float<T>(sum);
}

// Calls `function` with an element, the vector width and the number of parts as types. It also gets
// the number of threads that share a voxel, and the number of blocks.
template <class Function>
cudaError_t with_sharers(const VoxelLayout& layout, const Function& function) {
  const int sharers = sharers_of(layout);
  const std::int64_t blocks = layout.rows * layout.chunks;
  const std::int64_t width = layout.vectors ? 8 : 1;
  const std::int64_t parts = (layout.channels / width + sharers - 1) / sharers;
  if (blocks > INT_MAX || parts > 4) return cudaErrorInvalidConfiguration;
  return with_type(layout.dtype, [&](auto element) {
    const auto with_parts = [&](auto vector) {
      const auto count = static_cast<unsigned>(blocks);
      if (parts == 1) return function(element, vector, Width<1>(), sharers, count);
      if (parts == 2) return function(element, vector, Width<2>(), sharers, count);
      return function(element, vector, Width<4>(), sharers, count);
    };
    return layout.vectors ? with_parts(Width<8>()) : with_parts(Width<1>());
  });
}

}  // namespace

cudaError_t launch_spatial_gate_forward(const SpatialGateForward& launch, cudaStream_t stream) {
  const VoxelLayout& layout = launch.shape.layout;
  cudaError_t error =
      with_sharers(layout, [&](auto element, auto width, auto parts, int sharers, unsigned blocks) {
        using T = decltype(element);
        constexpr int W = decltype(width)::value, P = decltype(parts)::value;
        maps_kernel<T, W, P><<<blocks, voxel_threads, 0, stream>>>(launch, sharers);
        return cudaGetLastError();
      });
  if (error != cudaSuccess) return error;
  error = launch_gate_convolution(launch, stream);
  if (error != cudaSuccess) return error;
  return with_voxels(layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    gate_kernel<T, W><<<blocks, voxel_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_spatial_gate_backward(const SpatialGateBackward& launch, cudaStream_t stream) {
  const VoxelLayout& layout = launch.shape.layout;
  cudaError_t error =
      with_sharers(layout, [&](auto element, auto width, auto parts, int sharers, unsigned blocks) {
        using T = decltype(element);
        constexpr int W = decltype(width)::value, P = decltype(parts)::value;
        of_places_kernel<T, W, P><<<blocks, voxel_threads, 0, stream>>>(launch, sharers);
        return cudaGetLastError();
      });
  if (error != cudaSuccess) return error;
  error = launch_gate_convolution_backward(launch, stream);
  if (error != cudaSuccess) return error;
  error =
      with_sharers(layout, [&](auto element, auto width, auto parts, int sharers, unsigned blocks) {
        using T = decltype(element);
        constexpr int W = decltype(width)::value, P = decltype(parts)::value;
        gate_gradient_kernel<T, W, P><<<blocks, voxel_threads, 0, stream>>>(launch, sharers);
        return cudaGetLastError();
      });
  if (error != cudaSuccess) return error;
  return with_type(launch.shape.channel_gate_dtype, [&](auto element) {
    using T = decltype(element);
    finish_gate_kernel<T><<<finish_blocks(layout), dim3(32, finish_lanes), 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
