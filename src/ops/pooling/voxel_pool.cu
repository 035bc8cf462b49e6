// The mean and the maximum of each row and channel, in one pass over x.
#include "ops/pooling/voxel_pool_launch.h"
#include "ops/shared/device/voxels.cuh"

namespace lockstep {
namespace {

// The maximum of some elements, and the number of elements that are equal to it. NaN is above all
// others.
struct Largest {
  float value;
  int ties;

  __device__ void take(float other, int others) {
    if (other > value || other != other) {
      value = other;
      ties = others;
    } else if (other == value) {
      ties += others;
    }
  }
};

template <class T, int W>
__global__ void __launch_bounds__(voxel_threads) pool_kernel(VoxelPoolForward launch) {
  constexpr int unroll = 4;
  __shared__ float values[W][voxel_threads];
  __shared__ int all_ties[W][voxel_threads];
  const VoxelLayout& layout = launch.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/true);
  float sums[1][W] = {};
  Largest largest[W];
#pragma unroll
  for (int i = 0; i < W; ++i) largest[i] = {.value = -INFINITY, .ties = 0};
  if (place.turns > 0) {
    const T* from = static_cast<const T*>(launch.x) + place.element(layout);
    const std::int64_t step = place.step(layout);
    const auto take = [&](const Pack<T, W>& pack) {
#pragma unroll
      for (int i = 0; i < W; ++i) {
        const float value = pack[i];
        sums[0][i] += value;
        largest[i].take(value, 1);
      }
    };
    int left = place.turns;
    for (; left >= unroll; left -= unroll, from += unroll * step) {
      Pack<T, W> packs[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) packs[u] = Pack<T, W>::at(from + u * step);
#pragma unroll
      for (int u = 0; u < unroll; ++u) take(packs[u]);
    }
    for (; left > 0; --left, from += step) take(Pack<T, W>::at(from));
  }
  const auto share = [&] {
#pragma unroll
    for (int i = 0; i < W; ++i) {
      values[i][threadIdx.x] = largest[i].value;
      all_ties[i][threadIdx.x] = largest[i].ties;
    }
  };
  share();
  __syncthreads();
  for (int lanes = place.lanes; lanes > 1;) {
    const int half = (lanes + 1) / 2;
    if (place.lane + half < lanes) {
      const int other = static_cast<int>(threadIdx.x) + half * place.groups;
#pragma unroll
      for (int i = 0; i < W; ++i) largest[i].take(values[i][other], all_ties[i][other]);
      share();
    }
    lanes = half;
    __syncthreads();
  }
  add_lanes(sums, place);
  if (place.lane != 0 || place.turns == 0) return;
  float ties[W], value[W];
#pragma unroll
  for (int i = 0; i < W; ++i) {
    value[i] = largest[i].value;
    ties[i] = __int_as_float(largest[i].ties);
  }
  store_floats(sums[0], launch.partial + partial_place(layout, place, 3, 0));
  store_floats(value, launch.partial + partial_place(layout, place, 3, 1));
  store_floats(ties, launch.partial + partial_place(layout, place, 3, 2));
}

template <class T>
__global__ void finish_pool_kernel(VoxelPoolForward launch) {
  __shared__ float sums[finish_lanes][32];
  __shared__ Largest shared[finish_lanes][32];
  const VoxelLayout& layout = launch.layout;
  const Entries entries = entries_of(layout);
  float sum = 0;
  Largest largest{.value = -INFINITY, .ties = 0};
  for (std::int64_t entry = threadIdx.y; entry < entries.count; entry += finish_lanes) {
    const float* const from =
        launch.partial +
        (entries.row * layout.chunks + entry / entries.members) * 3 * layout.channels +
        entries.channel + entry % entries.members;
    sum += from[0];
    largest.take(from[layout.channels], __float_as_int(from[2 * layout.channels]));
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  shared[threadIdx.y][threadIdx.x] = largest;
  __syncthreads();
  if (threadIdx.y != 0 || entries.count == 0) return;
  for (int lane = 1; lane < finish_lanes; ++lane) {
    sum += sums[lane][threadIdx.x];
    largest.take(shared[lane][threadIdx.x].value, shared[lane][threadIdx.x].ties);
  }
  const auto elements = static_cast<float>(layout.voxels * entries.members);
  static_cast<T*>(launch.mean)[entries.statistic] = from_float<T>(sum / elements);
  static_cast<T*>(launch.largest)[entries.statistic] = from_float<T>(largest.value);
  launch.share[entries.statistic] = 1.0F / static_cast<float>(largest.ties);
}

template <class T, int W, bool through>
__global__ void __launch_bounds__(voxel_threads) pool_gradient_kernel(VoxelPoolBackward launch) {
  constexpr int unroll = through ? 2 : 4;
  const VoxelLayout& layout = launch.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/true);
  if (place.turns == 0) return;
  const float one_over =
      1.0F / static_cast<float>(layout.voxels * (layout.together ? layout.channels : 1));
  float all[W], largest[W], more[W];  // all: gradient of every element; more: added for maxima
#pragma unroll
  for (int i = 0; i < W; ++i) {
    const std::int64_t statistic = place.statistic(layout) + (layout.together ? 0 : i);
    const auto at = [&](const void* from) {
      return from == nullptr ? 0.0F : to_float(static_cast<const T*>(from)[statistic]);
    };
    all[i] = at(launch.of_mean) * one_over;
    largest[i] = at(launch.largest);
    more[i] = at(launch.of_largest) * launch.share[statistic];
  }
  const auto* const x = static_cast<const T*>(launch.x);
  const auto* const of_through = static_cast<const T*>(launch.of_through);
  auto* const of_x = static_cast<T*>(launch.of_x);
  const std::int64_t step = place.step(layout);
  std::int64_t element = place.element(layout);
  const auto put = [&](const Pack<T, W>& from, const Pack<T, W>& beside, std::int64_t at) {
    Pack<T, W> result;
#pragma unroll
    for (int i = 0; i < W; ++i) {
      float gradient = from[i] == largest[i] ? all[i] + more[i] : all[i];
      if constexpr (through) gradient += beside[i];
      result.value[i] = from_float<T>(gradient);
    }
    result.store(of_x + at);
  };
  int left = place.turns;
  for (; left >= unroll; left -= unroll, element += unroll * step) {
    Pack<T, W> from[unroll], beside[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      from[u] = Pack<T, W>::at(x + element + u * step);
      if constexpr (through) beside[u] = Pack<T, W>::at(of_through + element + u * step);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) put(from[u], beside[u], element + u * step);
  }
  for (; left > 0; --left, element += step) {
    Pack<T, W> beside;
    if constexpr (through) beside = Pack<T, W>::at(of_through + element);
    put(Pack<T, W>::at(x + element), beside, element);
  }
}

}  // namespace

cudaError_t launch_voxel_pool_forward(const VoxelPoolForward& launch, cudaStream_t stream) {
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    pool_kernel<T, W><<<blocks, voxel_threads, 0, stream>>>(launch);
    finish_pool_kernel<T>
        <<<finish_blocks(launch.layout), dim3(32, finish_lanes), 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_voxel_pool_backward(const VoxelPoolBackward& launch, cudaStream_t stream) {
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    if (launch.of_through != nullptr)
      pool_gradient_kernel<T, W, true><<<blocks, voxel_threads, 0, stream>>>(launch);
    else
      pool_gradient_kernel<T, W, false><<<blocks, voxel_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
