// Instance norm and batch norm with a scale and a bias per channel, an optional residual sum and
// ReLU. Forward reads x once for its means and squared deviations, and again to write y. Backward
// reads x and the gradient twice. Batch norm is treated as a single row that has all voxels.
#include "ops/channel_norm/channel_norm_launch.h"
#include "ops/channel_norm/channel_norm_passes.cuh"
#include "ops/shared/device/early_launch.cuh"

namespace lockstep {
namespace {

// A thread takes deviations from the first element that it reads. So neither a large mean nor a
// single outlier costs the variance precision.
template <class T, int W>
__device__ void moments_of_thread(const T* x, const VoxelPlace& place, const VoxelLayout& layout,
                                  float (&mean)[W], float (&squares)[W]) {
  const Pack<T, W> first = Pack<T, W>::at(x + place.element(layout));
  float sum[W] = {};
  const T* const from[] = {x};
  for_turns<T, W, 4, ahead<T, 1>, 0>(place, layout, from, Nothing(),
                                     [&](const Pack<T, W>(&packs)[1], Nothing, std::int64_t) {
#pragma unroll
                                       for (int i = 0; i < W; ++i) {
                                         const float apart = packs[0][i] - first[i];
                                         sum[i] += apart;
                                         squares[i] += apart * apart;
                                       }
                                     });
  const float one_over = 1.0F / static_cast<float>(place.turns);
#pragma unroll
  for (int i = 0; i < W; ++i) {
    mean[i] = first[i] + sum[i] * one_over;
    squares[i] -= sum[i] * sum[i] * one_over;
  }
}

// The threads' moments are combined as sums of deviations from the mean of the first thread. Chan
// and others (1979) give the formula for two parts.
template <class T, int W>
__global__ void __launch_bounds__(voxel_threads) moments_kernel(ChannelNormForward launch) {
  let_the_next_begin();
  wait_for_those_before();
  __shared__ float reference[W][voxel_threads];
  const VoxelPlace place = voxel_place<W>(launch.layout, /*backwards=*/true);
  float mean[W] = {}, sums[2][W] = {};
  if (place.turns > 0)
    moments_of_thread<T, W>(static_cast<const T*>(launch.x), place, launch.layout, mean, sums[1]);
  const int group = static_cast<int>(threadIdx.x) - place.lane * place.groups;
  if (place.lane == 0)
#pragma unroll
    for (int i = 0; i < W; ++i) reference[i][group] = mean[i];
  __syncthreads();
  const auto turns = static_cast<float>(place.turns);
#pragma unroll
  for (int i = 0; i < W; ++i) {
    const float apart = mean[i] - reference[i][group];
    sums[0][i] = turns * apart;
    sums[1][i] += turns * apart * apart;
  }
  add_lanes(sums, place);
  if (place.lane != 0 || place.turns == 0) return;
  const float one_over = 1.0F / elements_of_chunk(launch.layout, place.chunk);
#pragma unroll
  for (int i = 0; i < W; ++i) {
    const float apart = sums[0][i] * one_over;
    mean[i] += apart;
    sums[1][i] -= sums[0][i] * apart;
  }
  store_floats(mean, launch.partial + partial_place(launch.layout, place, 2, 0));
  store_floats(sums[1], launch.partial + partial_place(launch.layout, place, 2, 1));
}

// A block that finishes sums has 8 statistics with 32 threads each. With so few statistics per
// block there are many blocks. Up to 512 chunks, no thread waits for memory more than once.
constexpr int finished_together = 8, threads_of_statistic = 32;
constexpr int finish_warps = finished_together * threads_of_statistic / 32;
const dim3 finish_threads(finished_together, threads_of_statistic);
inline unsigned finish_grid(const VoxelLayout& layout) {
  return finish_blocks(layout, finished_together);
}

// Calls `take` as for_chunks does, for each chunk of this thread in a kernel that finishes sums.
template <class Take>
__device__ void for_partials(const VoxelLayout& layout, const Entries& entries,
                             const float* partial, const Take& take,
                             const float* elements = nullptr) {
  const float* const row =
      partial + entries.row * layout.chunks * 2 * layout.channels + entries.channel;
  for (int member = 0; member < static_cast<int>(entries.members); ++member)
    for_chunks<16, threads_of_statistic>(layout, row + member, static_cast<int>(threadIdx.y), take,
                                         elements);
}

// The sum over all threads with the same statistic, always in the same order. Every thread gets it.
// shared: used for this sum only.
__device__ float sum_of_threads(float value, float (&shared)[finish_warps][finished_together]) {
#pragma unroll
  for (int apart = finished_together; apart < 32; apart *= 2)
    value += __shfl_xor_sync(0xffffffffU, value, apart);
  const unsigned thread = threadIdx.y * finished_together + threadIdx.x;
  if (thread % 32 < finished_together) shared[thread / 32][threadIdx.x] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int w = 0; w < finish_warps; ++w) sum += shared[w][threadIdx.x];
  return sum;
}

__global__ void __launch_bounds__(32 * finish_warps)
    finish_moments_kernel(ChannelNormForward launch) {
  let_the_next_begin();
  wait_for_those_before();
  __shared__ float of_sum[finish_warps][finished_together];
  __shared__ float of_squares[finish_warps][finished_together];
  const VoxelLayout& layout = launch.layout;
  const Entries entries = entries_of(layout);
  const bool inside = entries.count > 0;
  MomentSums sums{.reference = 0};
  if (inside) {
    sums.reference =
        launch.partial[entries.row * layout.chunks * 2 * layout.channels + entries.channel];
    for_partials(
        layout, entries, launch.partial,
        [&](float mean, float deviations, float count) { sums.take(mean, deviations, count); },
        launch.known_elements);
  }
  sums.apart = sum_of_threads(sums.apart, of_sum);
  sums.squares = sum_of_threads(sums.squares, of_squares);
  const float count = static_cast<float>(layout.voxels * entries.members);
  if (threadIdx.y == 0 && inside)
    keep_moments(launch, entries.statistic, sums.mean(count), sums.deviations(count), count);
}

__global__ void given_moments_kernel(ChannelNormForward launch) {
  let_the_next_begin();
  wait_for_those_before();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= launch.layout.statistics) return;
  launch.mean[i] = launch.running_mean[i];
  launch.inverse_deviation[i] = rsqrtf(launch.running_variance[i] + launch.epsilon);
}

template <class T, int W, bool has_skip, bool finishes>
__global__ void __launch_bounds__(voxel_threads, resident<T>)
    apply_kernel(ChannelNormForward launch) {
  // If the moments were computed by moments_kernel, begins where that ended, else where the
  // convolution ended.
  const VoxelPlace place = voxel_place<W>(launch.layout, /*backwards=*/launch.known != nullptr);
  const auto* const x = static_cast<const T*>(launch.x);
  const auto* const skip = static_cast<const T*>(launch.skip);
  auto* const y = static_cast<T*>(launch.y);
  let_the_next_begin();
  if constexpr (has_skip) ask_for<T, W>(skip, place, launch.layout);
  wait_for_those_before();
  __shared__ FinishedNorm finished;
  if constexpr (finishes) finish_moments(launch, place, finished);
  if (place.turns == 0) return;
  const auto facts = facts_of<W, finishes>(launch, place, finished);
  const float least = launch.relu ? 0.0F : -INFINITY;
  constexpr int tensors = has_skip ? 2 : 1;
  const T* from[tensors] = {x};
  if constexpr (has_skip) from[1] = skip;
  for_turns<T, W, has_skip ? 2 : 4, ahead<T, tensors>, 3>(
      place, launch.layout, from, Nothing(),
      [&](const Pack<T, W>(&packs)[tensors], Nothing, std::int64_t at) {
        Pack<T, W> result;
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < W; ++i) {
          float value = facts.normed(packs[0][i] - facts.mean[i], i);
          if constexpr (has_skip) value += packs[1][i];
          const bool below = value <= least;  // false for NaN, so that NaN is kept
          bits |= below ? 0U : 1U << i;
          result.value[i] = from_float<T>(below ? least : value);
        }
        result.store(y + at);
        if (has_skip && launch.positive != nullptr)
          launch.positive[at / W] = static_cast<std::uint8_t>(bits);
      });
}

// Sums the gradient that passes the ReLU, and that gradient times (x - mean). by_bits: also writes
// that gradient.
template <class T, int W, bool by_bits>
__global__ void __launch_bounds__(voxel_threads, resident<T>)
    sums_kernel(ChannelNormBackward launch) {
  let_the_next_begin();
  wait_for_those_before();
  const VoxelLayout& layout = launch.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/true);
  float sums[2][W] = {};
  if (place.turns > 0) {
    const auto* const x = static_cast<const T*>(launch.x);
    ask_for<T, W>(x, place, layout);
    const ChannelFacts<W> facts(launch, place.statistic(layout));
    const bool relu = launch.relu;
    const T* const from[] = {x, static_cast<const T*>(launch.of_y)};
    const auto bits_at = [&](std::int64_t at) {
      return by_bits ? launch.positive[at / W] : std::uint8_t{0};
    };
    for_turns<T, W, 2, ahead<T, 2>, by_bits ? 2 : 0>(
        place, layout, from, bits_at,
        [&](const Pack<T, W>(&packs)[2], std::uint8_t bits, std::int64_t at) {
          Pack<T, W> passed;
#pragma unroll
          for (int i = 0; i < W; ++i) {
            const float apart = packs[0][i] - facts.mean[i];
            const bool passes =
                by_bits ? (bits >> i & 1) != 0 : !relu || !(facts.normed(apart, i) <= 0);
            const float gradient = passes ? packs[1][i] : 0.0F;
            if constexpr (by_bits) passed.value[i] = from_float<T>(gradient);
            sums[0][i] += gradient;
            sums[1][i] += gradient * apart;
          }
          if constexpr (by_bits) passed.store(static_cast<T*>(launch.of_skip) + at);
        });
  }
  add_lanes(sums, place);
  if (place.lane != 0 || place.turns == 0) return;
  store_floats(sums[0], launch.partial + partial_place(layout, place, 2, 0));
  store_floats(sums[1], launch.partial + partial_place(layout, place, 2, 1));
}

// Adds up the chunks. `sums` [statistics, 2] gets the share and the slope of each statistic.
__global__ void __launch_bounds__(32 * finish_warps)
    finish_sums_kernel(ChannelNormBackward launch) {
  let_the_next_begin();
  wait_for_those_before();
  __shared__ float of_sum[finish_warps][finished_together];
  __shared__ float of_product[finish_warps][finished_together];
  const VoxelLayout& layout = launch.layout;
  const Entries entries = entries_of(layout);
  const bool inside = entries.count > 0;
  float sum = 0, product = 0;
  if (inside)
    for_partials(layout, entries, launch.partial, [&](float first, float second, float) {
      sum += first;
      product += second;
    });
  sum = sum_of_threads(sum, of_sum);
  product = sum_of_threads(product, of_product);
  if (threadIdx.y != 0 || !inside) return;
  const float inverse = launch.inverse_deviation[entries.statistic];
  keep_sums(launch, entries.statistic, sum, product, inverse);
  const std::int64_t taken_of =
      launch.taken_of > 0 ? launch.taken_of : layout.voxels * entries.members;
  const Shares shares(sum, product, inverse, static_cast<float>(taken_of));
  launch.sums[entries.statistic * 2] = shares.share;
  launch.sums[entries.statistic * 2 + 1] = shares.slope;
}

template <class T, int W, bool finishes>
__global__ void __launch_bounds__(voxel_threads, resident<T>)
    gradient_kernel(ChannelNormBackward launch) {
  const VoxelLayout& layout = launch.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/false);
  const bool relu = launch.relu && launch.positive == nullptr;
  const auto* const x = static_cast<const T*>(launch.x);
  const auto* const ups =
      static_cast<const T*>(launch.positive == nullptr ? launch.of_y : launch.of_skip);
  auto* const of_x = static_cast<T*>(launch.of_x);
  let_the_next_begin();
  ask_for<T, W>(x, place, layout);
  ask_for<T, W>(ups, place, layout);
  wait_for_those_before();
  __shared__ FinishedNorm finished;
  if constexpr (finishes) finish_sums(launch, place, finished);
  if (place.turns == 0) return;
  const ChannelFacts<W> facts(launch, place.statistic(layout));
  const auto shares = shares_of<W, finishes>(launch, place, finished);
  const T* const from[] = {x, ups};
  for_turns<T, W, 2, ahead<T, 2>, 3>(
      place, layout, from, Nothing(), [&](const Pack<T, W>(&packs)[2], Nothing, std::int64_t at) {
        Pack<T, W> result;
#pragma unroll
        for (int i = 0; i < W; ++i) {
          const float apart = packs[0][i] - facts.mean[i];
          const float gradient = relu && facts.normed(apart, i) <= 0 ? 0.0F : packs[1][i];
          result.value[i] = from_float<T>(shares.gradient(gradient, apart, facts, i));
        }
        result.store(of_x + at);
      });
}

template <class T, int W, bool finishes>
void launch_apply(const ChannelNormForward& launch, unsigned blocks, cudaStream_t stream) {
  if (launch.skip != nullptr)
    launch_early(apply_kernel<T, W, true, finishes>, blocks, voxel_threads, stream, launch);
  else
    launch_early(apply_kernel<T, W, false, finishes>, blocks, voxel_threads, stream, launch);
}

}  // namespace

cudaError_t launch_channel_moments(const ChannelNormForward& launch, cudaStream_t stream) {
  if (launch.known != nullptr && !launch.given) {
    ChannelNormForward known = launch;
    known.partial = const_cast<float*>(launch.known);  // the kernel only reads it
    known.layout.chunks = launch.known_chunks;
    launch_early(finish_moments_kernel, finish_grid(launch.layout), finish_threads, stream, known);
    return cudaGetLastError();
  }
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    if (launch.given) {
      launch_early(given_moments_kernel, finish_blocks(launch.layout), 32, stream, launch);
    } else {
      launch_early(moments_kernel<T, W>, blocks, voxel_threads, stream, launch);
      if (!readers_finish<W>(launch))
        launch_early(finish_moments_kernel, finish_grid(launch.layout), finish_threads, stream,
                     launch);
    }
    return cudaGetLastError();
  });
}

cudaError_t launch_sums(const ChannelNormBackward& launch, cudaStream_t stream) {
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    if (launch.positive != nullptr)
      launch_early(sums_kernel<T, W, true>, blocks, voxel_threads, stream, launch);
    else
      launch_early(sums_kernel<T, W, false>, blocks, voxel_threads, stream, launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_finish_sums(const ChannelNormBackward& launch, cudaStream_t stream) {
  launch_early(finish_sums_kernel, finish_grid(launch.layout), finish_threads, stream, launch);
  return cudaGetLastError();
}

cudaError_t launch_channel_norm_forward(const ChannelNormForward& launch, cudaStream_t stream) {
  if (launch.known == nullptr)
    if (const auto enqueued = launch_on_chip(launch, stream)) return *enqueued;
  if (const cudaError_t error = launch_channel_moments(launch, stream); error != cudaSuccess)
    return error;
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    if (readers_finish<W>(launch))
      launch_apply<T, W, may_finish<W>>(launch, blocks, stream);
    else
      launch_apply<T, W, false>(launch, blocks, stream);
    return cudaGetLastError();
  });
}

cudaError_t launch_channel_norm_backward(const ChannelNormBackward& launch, cudaStream_t stream) {
  if (const auto enqueued = launch_on_chip(launch, stream)) return *enqueued;
  const bool sums_wanted = are_sums_wanted(launch);
  if (sums_wanted || launch.positive != nullptr)
    if (const cudaError_t error = launch_sums(launch, stream); error != cudaSuccess) return error;
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    const bool finishes = readers_finish<W>(launch, sums_wanted);
    if (sums_wanted && !finishes) launch_finish_sums(launch, stream);
    if (finishes)
      launch_early(gradient_kernel<T, W, may_finish<W>>, blocks, voxel_threads, stream, launch);
    else
      launch_early(gradient_kernel<T, W, false>, blocks, voxel_threads, stream, launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
