// Multiplies maps by factors per channel. A thread handles eight channels of a place. The gradients
// of the factors are summed over chunks of places first, then over the chunks in order.
#include "ops/channel_products/channel_products_launch.h"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256, warps = threads / 32;

// Eight channels of a place. channel: the first of them.
struct Eighth {
  std::int64_t item, place, channel;
};
__device__ bool eighth_of(const ChannelProducts& launch, Eighth& found) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t groups = launch.channels / 8, row = i / groups;
  found = {row / launch.places, row % launch.places, i % groups * 8};
  return row < launch.items * launch.places;
}
// The index in the result at which a place's channels begin.
__device__ std::int64_t out_at(const ChannelProducts& launch, std::int64_t item, std::int64_t set,
                               std::int64_t place) {
  return ((item * launch.sets + set) * launch.places + place) * launch.channels;
}

template <class T>
__global__ void __launch_bounds__(threads) products_kernel(ChannelProducts launch) {
  Eighth at;
  if (!eighth_of(launch, at)) return;
  float x[8], factor[8];
  load_eight(static_cast<const T*>(launch.x) +
                 (at.item * launch.places + at.place) * launch.channels + at.channel,
             x);
  for (std::int64_t set = 0; set < launch.sets; ++set) {
    load_eight(static_cast<const T*>(launch.factors) + set * launch.channels + at.channel, factor);
#pragma unroll
    for (int k = 0; k < 8; ++k) factor[k] *= x[k];
    store_eight(factor,
                static_cast<T*>(launch.out) + out_at(launch, at.item, set, at.place) + at.channel);
  }
}

template <class T>
__global__ void __launch_bounds__(threads) of_maps_kernel(ChannelProducts launch) {
  Eighth at;
  if (!eighth_of(launch, at)) return;
  float sum[8] = {}, factor[8], up[8];
  for (std::int64_t set = 0; set < launch.sets; ++set) {
    load_eight(static_cast<const T*>(launch.factors) + set * launch.channels + at.channel, factor);
    load_eight(
        static_cast<const T*>(launch.of_out) + out_at(launch, at.item, set, at.place) + at.channel,
        up);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum[k] += up[k] * factor[k];
  }
  store_eight(sum, static_cast<T*>(launch.of_x) +
                       (at.item * launch.places + at.place) * launch.channels + at.channel);
}

// A block handles a set of factors, a chunk of the places of all items, and 256 channels. Each lane
// has eight channels. Each warp takes every `warps`-th place.
template <class T>
__global__ void __launch_bounds__(threads) of_factors_kernel(ChannelProducts launch) {
  __shared__ float of_warps[warps][32][9];  // 9, so that lanes use different banks
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t chunk = blockIdx.x, set = blockIdx.y;
  const std::int64_t channel = (static_cast<std::int64_t>(blockIdx.z) * 32 + lane) * 8;
  const std::int64_t all = launch.items * launch.places, first = chunk * channel_products_chunk;
  const std::int64_t end = min(first + channel_products_chunk, all);
  const bool inside = channel < launch.channels;
  float sum[8] = {}, x[8], up[8];
  if (inside)
    for (std::int64_t row = first + warp; row < end; row += warps) {
      load_eight(static_cast<const T*>(launch.x) + row * launch.channels + channel, x);
      load_eight(static_cast<const T*>(launch.of_out) +
                     out_at(launch, row / launch.places, set, row % launch.places) + channel,
                 up);
#pragma unroll
      for (int k = 0; k < 8; ++k) sum[k] += up[k] * x[k];
    }
#pragma unroll
  for (int k = 0; k < 8; ++k) of_warps[warp][lane][k] = sum[k];
  __syncthreads();
  // From here each thread sums one of the block's 256 channels.
  const int own_lane = static_cast<int>(threadIdx.x) / 8, own = static_cast<int>(threadIdx.x) % 8;
  float total = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) total += of_warps[w][own_lane][own];
  const std::int64_t own_channel = static_cast<std::int64_t>(blockIdx.z) * 256 + threadIdx.x;
  if (own_channel < launch.channels)
    launch.partial[(chunk * launch.sets + set) * launch.channels + own_channel] = total;
}

template <class T>
__global__ void __launch_bounds__(threads) finish_factors_kernel(ChannelProducts launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t count = launch.sets * launch.channels;
  if (i >= count) return;
  float sum = 0;
  for (std::int64_t chunk = 0; chunk < launch.chunks; ++chunk)
    sum += launch.partial[chunk * count + i];
  static_cast<T*>(launch.of_factors)[i] = from_float<T>(sum);
}

std::int64_t blocks_for(std::int64_t count) { return (count + threads - 1) / threads; }
std::int64_t blocks_of_maps(const ChannelProducts& launch) {
  return blocks_for(launch.items * launch.places * (launch.channels / 8));
}
bool fits(const ChannelProducts& launch) {
  return launch.channels % 8 == 0 && blocks_of_maps(launch) <= INT_MAX &&
         launch.chunks <= INT_MAX && launch.sets <= channel_products_most &&
         launch.channels <= 256 * 65535LL;
}

}  // namespace

cudaError_t launch_channel_products_forward(const ChannelProducts& launch, cudaStream_t stream) {
  if (!fits(launch)) return cudaErrorInvalidConfiguration;
  return with_type(launch.dtype, [&](auto element) {
    const auto blocks = static_cast<unsigned>(blocks_of_maps(launch));
    products_kernel<decltype(element)><<<blocks, threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_channel_products_backward(const ChannelProducts& launch, cudaStream_t stream) {
  if (!fits(launch)) return cudaErrorInvalidConfiguration;
  return with_type(launch.dtype, [&](auto element) {
    using T = decltype(element);
    if (launch.of_x != nullptr)
      of_maps_kernel<T>
          <<<static_cast<unsigned>(blocks_of_maps(launch)), threads, 0, stream>>>(launch);
    if (launch.of_factors != nullptr) {
      const dim3 grid(static_cast<unsigned>(launch.chunks), static_cast<unsigned>(launch.sets),
                      static_cast<unsigned>((launch.channels + 255) / 256));
      of_factors_kernel<T><<<grid, threads, 0, stream>>>(launch);
      const auto blocks = static_cast<unsigned>(blocks_for(launch.sets * launch.channels));
      finish_factors_kernel<T><<<blocks, threads, 0, stream>>>(launch);
    }
    return cudaGetLastError();
  });
}

}  // namespace lockstep
