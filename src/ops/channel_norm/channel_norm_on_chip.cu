// Batch norm for tensors that fit into shared memory. A cluster of blocks holds all voxels of a few
// channels. So forward reads x only once, backward reads x and the gradient only once, and each
// needs a single launch. The blocks of a cluster share the voxels of its channels, and add up their
// sums across the cluster.
#include "ops/channel_norm/channel_norm_facts.cuh"
#include "ops/channel_norm/channel_norm_launch.h"
#include "ops/shared/device/early_launch.cuh"

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

#include <array>
#include <atomic>
#include <utility>

namespace lockstep {
namespace {

constexpr int most_slice = 32, most_blocks = 16;  // channels and blocks of a cluster
constexpr int threads = 512, warps = threads / 32;

struct OnChip {
  int slice = 0;   // channels per cluster, a multiple of eight; 0 = the tensor does not fit
  int blocks = 0;  // blocks per cluster
  int voxels = 0;  // voxels per block; the last blocks may have fewer
};

// A block's shared memory besides the elements that it holds.
struct Sums {
  float of_warps[2][warps][most_slice];
  float own[2][most_slice];  // this block's sums, which the other blocks of the cluster read
  float of_blocks[2][most_blocks][most_slice];
  float finished[2][most_slice];  // sums of the whole cluster
};

// The part of a thread: eight channels of every `lanes`-th voxel of its block.
template <class T>
struct SlicePlace {
  int groups, lanes, group, lane;
  int rank;              // rank of the block in its cluster
  std::int64_t channel;  // the thread's first channel
  int count;             // number of voxels of the block
  std::int64_t element;  // index of the thread's first channel in the block's first voxel
  std::int64_t channels;

  __device__ SlicePlace(const VoxelLayout& layout, const OnChip& chip) {
    groups = chip.slice / 8;
    lanes = threads / groups;
    lane = static_cast<int>(threadIdx.x) / groups;
    group = static_cast<int>(threadIdx.x) - lane * groups;
    const auto blocks = static_cast<unsigned>(chip.blocks);
    const unsigned cluster = blockIdx.x / blocks;
    rank = static_cast<int>(blockIdx.x - cluster * blocks);
    channels = layout.channels;
    channel = static_cast<std::int64_t>(cluster) * chip.slice + group * 8;
    count = voxels_of(layout, chip, rank);
    element = static_cast<std::int64_t>(rank) * chip.voxels * channels + channel;
  }
  __device__ static int voxels_of(const VoxelLayout& layout, const OnChip& chip, int rank) {
    const std::int64_t left = layout.voxels - static_cast<std::int64_t>(rank) * chip.voxels;
    return static_cast<int>(left < 0 ? 0 : left < chip.voxels ? left : chip.voxels);
  }
  // Calls function(index in the block's memory, index in the tensor) for each of the thread's
  // packs.
  template <class Function>
  __device__ void each(const Function& function) const {
    for (int voxel = lane; voxel < count; voxel += lanes)
      function(voxel * groups + group, element + voxel * channels);
  }
  // Like each(), but also passes the result of load(index in the tensor). Several loads are in
  // flight at once.
  template <class Load, class Function>
  __device__ void each_with(const Load& load, const Function& function) const {
    constexpr int at_once = 4;
    for (int first = lane; first < count; first += at_once * lanes) {
      decltype(load(element)) loaded[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int voxel = first + u * lanes;
        if (voxel < count) loaded[u] = load(element + voxel * channels);
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int voxel = first + u * lanes;
        if (voxel < count) function(voxel * groups + group, element + voxel * channels, loaded[u]);
      }
    }
  }
  // Copies the thread's packs from global into shared memory, asynchronously. The thread needs to
  // wait only for its own copies.
  __device__ void fetch(const T* from, Pack<T, 8>* to) const {
    each([&](int at, std::int64_t element) {
#pragma unroll
      for (int word = 0; word < static_cast<int>(sizeof(Pack<T, 8>)) / 16; ++word)
        __pipeline_memcpy_async(reinterpret_cast<char*>(to + at) + 16 * word,
                                reinterpret_cast<const char*>(from + element) + 16 * word, 16);
    });
    __pipeline_commit();
  }
};

// Adds up the values of all threads of the block that have the same channels. The order is always
// the same. to[n][channel] gets the n-th sum of a channel, counted within the slice. All threads of
// the block call it, and may read `to` as soon as it returns.
template <class T, int N>
__device__ void add_block(float (&values)[N][8], const SlicePlace<T>& place, Sums& sums,
                          float (*to)[most_slice]) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float value = values[n][i];
      for (int apart = place.groups; apart < 32; apart *= 2)
        value += __shfl_xor_sync(0xffffffffU, value, apart);
      if (thread % 32 < place.groups) sums.of_warps[n][thread / 32][thread % 32 * 8 + i] = value;
    }
  __syncthreads();
  for (int at = thread; at < N * place.groups * 8; at += threads) {
    const int n = at / (place.groups * 8), channel = at - n * place.groups * 8;
    float value = 0;
    for (int warp = 0; warp < warps; ++warp) value += sums.of_warps[n][warp][channel];
    to[n][channel] = value;
  }
  __syncthreads();
}

// Gathers `own` from all blocks of the cluster. A separate thread fetches each value, because
// fetching them one after another would take longer than reading the elements. All threads of the
// cluster call it.
__device__ void take_blocks(const cooperative_groups::cluster_group& cluster, const OnChip& chip,
                            Sums& sums) {
  cluster.sync();
  for (int at = static_cast<int>(threadIdx.x); at < 2 * chip.blocks * chip.slice; at += threads) {
    const int of = at / chip.slice, channel = at - of * chip.slice;
    const int block = of / 2, n = of - block * 2;
    sums.of_blocks[n][block][channel] = cluster.map_shared_rank(&sums, block)->own[n][channel];
  }
  __syncthreads();
}

// The memory of a block: the elements of one or two tensors, then the block's sums.
template <class T>
struct BlockMemory {
  Pack<T, 8>* first;
  Pack<T, 8>* second;
  Sums* sums;

  __device__ BlockMemory(unsigned char* memory, const OnChip& chip, int tensors) {
    const int packs = chip.voxels * chip.slice / 8;
    first = reinterpret_cast<Pack<T, 8>*>(memory);
    second = first + packs;
    sums = reinterpret_cast<Sums*>(first + packs * tensors);
  }
  static std::size_t bytes(const OnChip& chip, int tensors) {
    return static_cast<std::size_t>(chip.voxels) * chip.slice * sizeof(T) * tensors + sizeof(Sums);
  }
};

template <class T, bool has_skip>
__global__ void __launch_bounds__(threads)
    on_chip_forward_kernel(ChannelNormForward launch, OnChip chip) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char memory[];
  const BlockMemory<T> kept(memory, chip, 1);
  Sums& sums = *kept.sums;
  const SlicePlace<T> place(launch.layout, chip);
  place.fetch(static_cast<const T*>(launch.x), kept.first);
  const auto* const skip = static_cast<const T*>(launch.skip);
  if constexpr (has_skip)
    place.each([&](int, std::int64_t element) { ask_for_line(skip + element); });
  __pipeline_wait_prior(0);

  // As in moments_kernel: each thread sums deviations from its own first element. The threads' sums
  // are then combined as deviations from the mean of the first thread.
  float mean[8] = {}, values[2][8] = {};
  float turns = 0;
  if (place.lane < place.count) {
    float first[8];
    const Pack<T, 8> pack = kept.first[place.lane * place.groups + place.group];
#pragma unroll
    for (int i = 0; i < 8; ++i) first[i] = pack[i];
    place.each([&](int at, std::int64_t) {
      const Pack<T, 8> next = kept.first[at];
      ++turns;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float apart = next[i] - first[i];
        values[0][i] += apart;
        values[1][i] += apart * apart;
      }
    });
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float apart = values[0][i] / turns;
      mean[i] = first[i] + apart;
      values[1][i] -= values[0][i] * apart;
    }
  }
  float* const reference = &sums.finished[0][place.group * 8];
  if (place.lane == 0)
#pragma unroll
    for (int i = 0; i < 8; ++i) reference[i] = mean[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float apart = mean[i] - reference[i];
    values[0][i] = turns * apart;
    values[1][i] += turns * apart * apart;
  }
  add_block(values, place, sums, sums.own);
  if (place.lane == 0 && place.count > 0)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float &sum = sums.own[0][place.group * 8 + i], &squares = sums.own[1][place.group * 8 + i];
      const float apart = sum / static_cast<float>(place.count);
      squares -= sum * apart;
      sum = mean[i] + apart;
    }
  const auto cluster = cooperative_groups::this_cluster();
  take_blocks(cluster, chip, sums);
  const int channel = static_cast<int>(threadIdx.x);
  if (channel < chip.slice) {
    MomentSums all{.reference = sums.of_blocks[0][0][channel]};
#pragma unroll 4
    for (int block = 0; block < chip.blocks; ++block)
      if (const int voxels = place.voxels_of(launch.layout, chip, block); voxels > 0)
        all.take(sums.of_blocks[0][block][channel], sums.of_blocks[1][block][channel],
                 static_cast<float>(voxels));
    const auto count = static_cast<float>(launch.layout.voxels);
    const float of_all = all.mean(count), squares = all.deviations(count);
    sums.finished[0][channel] = of_all;
    sums.finished[1][channel] = inverse_of(launch, squares, count);
    if (place.rank == 0)
      keep_moments(launch, place.channel - place.group * 8 + channel, of_all, squares, count);
  }
  __syncthreads();
  // A block must not end while another one may still read its sums.
  cluster.barrier_arrive();

  const ChannelFacts<8> facts(launch, place.channel, &sums.finished[0][place.group * 8],
                              &sums.finished[1][place.group * 8]);
  const float least = launch.relu ? 0.0F : -INFINITY;
  auto* const y = static_cast<T*>(launch.y);
  const auto put = [&](int at, std::int64_t element, const Pack<T, 8>& residual) {
    const Pack<T, 8> from = kept.first[at];
    Pack<T, 8> result;
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float value = facts.normed(from[i] - facts.mean[i], i);
      if constexpr (has_skip) value += residual[i];
      const bool below = value <= least;  // false for NaN, so that NaN is kept
      bits |= below ? 0U : 1U << i;
      result.value[i] = from_float<T>(below ? least : value);
    }
    result.store(y + element);
    if (has_skip && launch.positive != nullptr)
      launch.positive[element / 8] = static_cast<std::uint8_t>(bits);
  };
  if constexpr (has_skip)
    place.each_with([&](std::int64_t element) { return Pack<T, 8>::at(skip + element); }, put);
  else
    place.each([&](int at, std::int64_t element) { put(at, element, Pack<T, 8>()); });
  cluster.barrier_wait();
#endif
}

template <class T, bool by_bits>
__global__ void __launch_bounds__(threads)
    on_chip_backward_kernel(ChannelNormBackward launch, OnChip chip) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char memory[];
  const BlockMemory<T> kept(memory, chip, 2);
  Sums& sums = *kept.sums;
  const SlicePlace<T> place(launch.layout, chip);
  place.fetch(static_cast<const T*>(launch.x), kept.first);
  place.fetch(static_cast<const T*>(launch.of_y), kept.second);
  const ChannelFacts<8> facts(launch, place.channel);
  const bool relu = launch.relu;
  __pipeline_wait_prior(0);

  // Replaces the incoming gradient by the gradient that passes the ReLU.
  float values[2][8] = {};
  const auto take = [&](int at, std::int64_t element, std::uint8_t bits) {
    const Pack<T, 8> from = kept.first[at], up = kept.second[at];
    Pack<T, 8> passed;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float apart = from[i] - facts.mean[i];
      const bool passes = by_bits ? (bits >> i & 1) != 0 : !relu || !(facts.normed(apart, i) <= 0);
      const float gradient = passes ? up[i] : 0.0F;
      passed.value[i] = from_float<T>(gradient);
      values[0][i] += gradient;
      values[1][i] += gradient * apart;
    }
    kept.second[at] = passed;
    if constexpr (by_bits) passed.store(static_cast<T*>(launch.of_skip) + element);
  };
  if constexpr (by_bits)
    place.each_with([&](std::int64_t element) { return launch.positive[element / 8]; }, take);
  else
    place.each([&](int at, std::int64_t element) { take(at, element, 0); });
  add_block(values, place, sums, sums.own);

  const auto cluster = cooperative_groups::this_cluster();
  take_blocks(cluster, chip, sums);
  const int channel = static_cast<int>(threadIdx.x);
  if (channel < chip.slice) {
    float sum = 0, product = 0;
#pragma unroll 4
    for (int block = 0; block < chip.blocks; ++block) {
      sum += sums.of_blocks[0][block][channel];
      product += sums.of_blocks[1][block][channel];
    }
    const std::int64_t statistic = place.channel - place.group * 8 + channel;
    const float inverse = launch.inverse_deviation[statistic];
    const Shares shares(sum, product, inverse, static_cast<float>(launch.layout.voxels));
    sums.finished[0][channel] = shares.share;
    sums.finished[1][channel] = shares.slope;
    if (place.rank == 0) keep_sums(launch, statistic, sum, product, inverse);
  }
  __syncthreads();
  cluster.barrier_arrive();

  float share[8], slope[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    share[i] = sums.finished[0][place.group * 8 + i];
    slope[i] = sums.finished[1][place.group * 8 + i];
  }
  auto* const of_x = static_cast<T*>(launch.of_x);
  place.each([&](int at, std::int64_t element) {
    const Pack<T, 8> from = kept.first[at], up = kept.second[at];
    Pack<T, 8> result;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float apart = from[i] - facts.mean[i];
      result.value[i] = from_float<T>((up[i] - share[i] - apart * slope[i]) * facts.factor[i]);
    }
    result.store(of_x + element);
  });
  cluster.barrier_wait();
#endif
}

// Above this size, two reads by all multiprocessors are faster, because a cluster waits for its
// slowest block.
constexpr std::int64_t most_bytes_of_x = 6 << 20;
constexpr std::int64_t fewest_blocks = 64;  // blocks of all clusters together

// Prefers wide slices, which make long reads, and small clusters, which start soon.
OnChip chosen_shape(const VoxelLayout& layout, std::size_t element, int tensors,
                    std::size_t most_bytes) {
  if (layout.rows != 1 || layout.together || !layout.vectors) return {};
  const auto bytes_of_voxel = static_cast<std::int64_t>(element) * layout.channels;
  if (layout.voxels * bytes_of_voxel > most_bytes_of_x) return {};
  for (const auto& [slice, blocks] : {std::pair(32, 8), std::pair(16, 8), std::pair(16, 16)}) {
    if (layout.channels % slice != 0 || layout.channels / slice * blocks < fewest_blocks) continue;
    const std::int64_t voxels = (layout.voxels + blocks - 1) / blocks;
    const OnChip chip{.slice = slice, .blocks = blocks, .voxels = static_cast<int>(voxels)};
    if (static_cast<std::size_t>(voxels) * slice * element * tensors + sizeof(Sums) <= most_bytes)
      return chip;
  }
  return {};
}

// Sets the cluster size in `cluster`, which must outlive the result.
cudaLaunchConfig_t config_of(cudaLaunchAttribute& cluster, std::int64_t all_blocks, int blocks,
                             std::size_t bytes, cudaStream_t stream = nullptr) {
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(all_blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return config;
}

// Returns the dynamic shared memory that a block of the kernel may have on this device. Returns 0
// if the device has no clusters, or if the kernel was compiled for older devices.
template <class Kernel>
std::size_t allow(Kernel kernel) {
  if (!is_for_hopper(reinterpret_cast<const void*>(kernel))) return 0;
  cudaFuncAttributes compiled{};
  int device = 0, most = 0;
  const auto failed = [](cudaError_t error) { return error != cudaSuccess; };
  if (failed(cudaFuncGetAttributes(&compiled, kernel)) || failed(cudaGetDevice(&device)) ||
      failed(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)))
    return 0;
  const int bytes = most - static_cast<int>(compiled.sharedSizeBytes);
  if (failed(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) ||
      failed(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1))) {
    cudaGetLastError();  // clears the error, so that a later check does not see it
    return 0;
  }
  // A partition of a GPU may have no room for the largest cluster.
  cudaLaunchAttribute cluster{};
  const cudaLaunchConfig_t largest =
      config_of(cluster, most_blocks, most_blocks, static_cast<std::size_t>(bytes));
  int clusters = 0;
  if (failed(cudaOccupancyMaxActiveClusters(&clusters, kernel, &largest))) cudaGetLastError();
  return clusters > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// The memory allowed for one kernel, queried once for each device.
struct Allowed {
  static constexpr int most_devices = 64;
  // the bytes plus one; 0 = not queried yet
  std::array<std::atomic<std::int64_t>, most_devices> known{};

  template <class Kernel>
  std::size_t bytes(Kernel kernel) {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device >= most_devices) return 0;
    std::atomic<std::int64_t>& of_device = known[static_cast<std::size_t>(device)];
    if (of_device == 0) of_device = static_cast<std::int64_t>(allow(kernel)) + 1;
    return static_cast<std::size_t>(of_device - 1);
  }
};

// Returns the result of the launch, or nothing if the tensor does not fit.
template <class T, class Launch, class Kernel>
std::optional<cudaError_t> enqueue(Kernel kernel, const Launch& launch, int tensors,
                                   std::size_t most_bytes, cudaStream_t stream) {
  const OnChip chip = chosen_shape(launch.layout, sizeof(T), tensors, most_bytes);
  if (chip.slice == 0) return std::nullopt;
  cudaLaunchAttribute cluster{};
  const cudaLaunchConfig_t config =
      config_of(cluster, launch.layout.channels / chip.slice * chip.blocks, chip.blocks,
                BlockMemory<T>::bytes(chip, tensors), stream);
  return cudaLaunchKernelEx(&config, kernel, launch, chip);
}

template <class T, bool has_skip>
std::optional<cudaError_t> enqueue_forward(const ChannelNormForward& launch, cudaStream_t stream) {
  const auto kernel = on_chip_forward_kernel<T, has_skip>;
  static Allowed allowed;
  return enqueue<T>(kernel, launch, 1, allowed.bytes(kernel), stream);
}

template <class T, bool by_bits>
std::optional<cudaError_t> enqueue_backward(const ChannelNormBackward& launch,
                                            cudaStream_t stream) {
  const auto kernel = on_chip_backward_kernel<T, by_bits>;
  static Allowed allowed;
  return enqueue<T>(kernel, launch, 2, allowed.bytes(kernel), stream);
}

// enqueue(element) gets a value of the launch's element type.
template <class Launch, class Enqueue>
std::optional<cudaError_t> where_it_fits(const Launch& launch, const Enqueue& enqueue) {
  std::optional<cudaError_t> result;
  if (launch.given) return result;
  with_type(launch.layout.dtype, [&](auto element) {
    result = enqueue(element);
    return cudaSuccess;
  });
  return result;
}

}  // namespace

std::optional<cudaError_t> launch_on_chip(const ChannelNormForward& launch, cudaStream_t stream) {
  return where_it_fits(launch, [&](auto element) {
    using T = decltype(element);
    return launch.skip != nullptr ? enqueue_forward<T, true>(launch, stream)
                                  : enqueue_forward<T, false>(launch, stream);
  });
}

std::optional<cudaError_t> launch_on_chip(const ChannelNormBackward& launch, cudaStream_t stream) {
  return where_it_fits(launch, [&](auto element) {
    using T = decltype(element);
    return launch.positive != nullptr ? enqueue_backward<T, true>(launch, stream)
                                      : enqueue_backward<T, false>(launch, stream);
  });
}

}  // namespace lockstep
