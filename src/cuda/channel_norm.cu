// Instance norm and batch norm with a factor and a bias per channel, a residual sum and ReLU.
// Forward reads x for its means and squared deviations, then once more to write y; backward reads x
// and the gradient twice. Batch norm is the case of a single row of all voxels.
#include "cuda/channel_norm_launch.h"
#include "cuda/voxels.cuh"

namespace lockstep {
namespace {

// Number, mean and sum of squared deviations of some elements; merged as Chan and others (1979).
struct Moments {
  float count, mean, squares;

  __device__ void merge(float other_count, float other_mean, float other_squares) {
    if (other_count == 0) return;
    const float sum = count + other_count, share = other_count / sum, apart = other_mean - mean;
    mean += apart * share;
    squares += other_squares + apart * apart * count * share;
    count = sum;
  }
};

// A thread's deviations are taken from the first element that it sees, so that neither a large mean
// nor a single outlier costs digits of the variance.
template <class T, int W>
__device__ void moments_of_thread(const T* from, std::int64_t step, int turns, float (&mean)[W],
                                  float (&squares)[W]) {
  constexpr int unroll = 4;
  const Pack<T, W> first = Pack<T, W>::at(from);
  float sum[W] = {};
  const auto take = [&](const Pack<T, W>& pack) {
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const float apart = pack[i] - first[i];
      sum[i] += apart;
      squares[i] += apart * apart;
    }
  };
  from += step;
  int left = turns - 1;
  for (; left >= unroll; left -= unroll, from += unroll * step) {
    Pack<T, W> packs[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) packs[u] = Pack<T, W>::at(from + u * step);
#pragma unroll
    for (int u = 0; u < unroll; ++u) take(packs[u]);
  }
  for (; left > 0; --left, from += step) take(Pack<T, W>::at(from));
  const float one_over = 1.0F / static_cast<float>(turns);
#pragma unroll
  for (int i = 0; i < W; ++i) {
    mean[i] = first[i] + sum[i] * one_over;
    squares[i] -= sum[i] * sum[i] * one_over;
  }
}

template <class T, int W>
__global__ void __launch_bounds__(voxel_threads) moments_kernel(ChannelNormForward launch) {
  __shared__ float means[W][voxel_threads], all_squares[W][voxel_threads], counts[voxel_threads];
  const VoxelPlace place = voxel_place<W>(launch.layout, /*backwards=*/true);
  float mean[W] = {}, squares[W] = {};
  auto count = static_cast<float>(place.turns);
  if (place.turns > 0)
    moments_of_thread<T, W>(static_cast<const T*>(launch.x) + place.element(launch.layout),
                            place.step(launch.layout), place.turns, mean, squares);
  const auto share = [&] {
    counts[threadIdx.x] = count;
#pragma unroll
    for (int i = 0; i < W; ++i) {
      means[i][threadIdx.x] = mean[i];
      all_squares[i][threadIdx.x] = squares[i];
    }
  };
  share();
  __syncthreads();
  for (int lanes = place.lanes; lanes > 1;) {
    const int half = (lanes + 1) / 2;
    if (place.lane + half < lanes) {
      const int other = static_cast<int>(threadIdx.x) + half * place.groups;
      Moments moments{};
#pragma unroll
      for (int i = 0; i < W; ++i) {
        moments = {.count = count, .mean = mean[i], .squares = squares[i]};
        moments.merge(counts[other], means[i][other], all_squares[i][other]);
        mean[i] = moments.mean;
        squares[i] = moments.squares;
      }
      count = moments.count;
      share();
    }
    lanes = half;
    __syncthreads();
  }
  if (place.lane != 0 || place.turns == 0) return;
  store_floats(mean, launch.partial + partial_place(launch.layout, place, 2, 0));
  store_floats(squares, launch.partial + partial_place(launch.layout, place, 2, 1));
}

// A block that finishes sums has 8 statistics, each of which has 32 threads: few statistics make
// many blocks, and no thread waits for memory more than once where there are up to 512 chunks.
constexpr int finished_together = 8, threads_of_statistic = 32;
constexpr int finish_warps = finished_together * threads_of_statistic / 32;
const dim3 finish_threads(finished_together, threads_of_statistic);
inline unsigned finish_grid(const VoxelLayout& layout) {
  return finish_blocks(layout, finished_together);
}

// Calls take(first sum of a chunk, second, elements of it) for each of this thread's.
template <class Take>
__device__ void for_partials(const VoxelLayout& layout, const Entries& entries,
                             const float* partial, const Take& take) {
  constexpr int at_once = 16;
  const auto members = static_cast<int>(entries.members), chunks = static_cast<int>(layout.chunks);
  const std::int64_t most = (layout.voxels + chunks - 1) / chunks;
  const std::int64_t step = 2 * layout.channels;
  for (int member = 0; member < members; ++member) {
    const float* const row =
        partial + entries.row * layout.chunks * step + entries.channel + member;
    for (int base = static_cast<int>(threadIdx.y); base < chunks;
         base += at_once * threads_of_statistic) {
      float first[at_once], second[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int chunk = base + u * threads_of_statistic;
        first[u] = chunk < chunks ? row[chunk * step] : 0.0F;
        second[u] = chunk < chunks ? row[chunk * step + layout.channels] : 0.0F;
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int chunk = base + u * threads_of_statistic;
        const std::int64_t left = layout.voxels - chunk * most;
        if (chunk < chunks)
          take(first[u], second[u], static_cast<float>(left < most ? left : most));
      }
    }
  }
}

// Of all threads with the same statistic, in the same order each time; all get it.
// shared: of this sum alone.
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

__device__ void follow(float* running, float now, float momentum) {
  *running += momentum * (now - *running);
}

// The mean of the chunks' means, then their deviations from it.
__global__ void __launch_bounds__(32 * finish_warps)
    finish_moments_kernel(ChannelNormForward launch) {
  __shared__ float of_sum[finish_warps][finished_together];
  __shared__ float of_squares[finish_warps][finished_together];
  const VoxelLayout& layout = launch.layout;
  const Entries entries = entries_of(layout);
  const bool inside = entries.count > 0;
  float sum = 0, squares = 0;
  if (inside)
    for_partials(layout, entries, launch.partial,
                 [&](float mean, float, float count) { sum += count * mean; });
  const float count = static_cast<float>(layout.voxels * entries.members);
  const float mean = sum_of_threads(sum, of_sum) / count;
  if (inside)
    for_partials(layout, entries, launch.partial, [&](float of, float deviations, float elements) {
      const float apart = of - mean;
      squares += deviations + elements * apart * apart;
    });
  squares = sum_of_threads(squares, of_squares);
  if (threadIdx.y != 0 || !inside) return;
  launch.mean[entries.statistic] = mean;
  launch.inverse_deviation[entries.statistic] = rsqrtf(squares / count + launch.epsilon);
  if (launch.running_mean == nullptr) return;
  follow(launch.running_mean + entries.statistic, mean, launch.momentum);
  follow(launch.running_variance + entries.statistic, squares / (count - 1), launch.momentum);
}

__global__ void given_moments_kernel(ChannelNormForward launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= launch.layout.statistics) return;
  launch.mean[i] = launch.running_mean[i];
  launch.inverse_deviation[i] = rsqrtf(launch.running_variance[i] + launch.epsilon);
}

__device__ float affine_at(const void* from, KernelDtype dtype, std::int64_t i) {
  switch (dtype) {
    case KernelDtype::bf16:
      return to_float(static_cast<const __nv_bfloat16*>(from)[i]);
    case KernelDtype::f16:
      return to_float(static_cast<const __half*>(from)[i]);
    case KernelDtype::f32:
      break;
  }
  return static_cast<const float*>(from)[i];
}

// What all elements of a channel share.
template <int W>
struct ChannelFacts {
  float mean[W], factor[W], bias[W];  // factor: 1 / deviation, times the channel's

  template <class Launch>
  __device__ ChannelFacts(const Launch& launch, const VoxelPlace& place) {
    const std::int64_t first = place.statistic(launch.layout);
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const std::int64_t statistic = launch.layout.together ? first : first + i;
      mean[i] = launch.mean[statistic];
      factor[i] = launch.inverse_deviation[statistic];
      if (launch.channel_scale != nullptr)
        factor[i] *= affine_at(launch.channel_scale, launch.affine, statistic);
      bias[i] = launch.bias == nullptr ? 0.0F : affine_at(launch.bias, launch.affine, statistic);
    }
  }
  // What the norm makes of an element that is so far from its mean: the same in both passes.
  __device__ float normed(float apart, int i) const { return fmaf(apart, factor[i], bias[i]); }
};

// Blocks that a processor must hold, so that enough reads are under way.
template <class T>
constexpr int resident = sizeof(T) == 2 ? 3 : 2;

template <class T, int W, bool has_skip>
__global__ void __launch_bounds__(voxel_threads, resident<T>)
    apply_kernel(ChannelNormForward launch) {
  constexpr int unroll = has_skip ? 2 : 4;
  const VoxelPlace place = voxel_place<W>(launch.layout, /*backwards=*/false);
  if (place.turns == 0) return;
  const ChannelFacts<W> facts(launch, place);
  const std::int64_t step = place.step(launch.layout);
  std::int64_t element = place.element(launch.layout);
  const auto* const x = static_cast<const T*>(launch.x);
  const auto* const skip = static_cast<const T*>(launch.skip);
  auto* const y = static_cast<T*>(launch.y);
  const float least = launch.relu ? 0.0F : -INFINITY;
  const auto put = [&](const Pack<T, W>& from, const Pack<T, W>& residual, std::int64_t at) {
    Pack<T, W> result;
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < W; ++i) {
      float value = facts.normed(from[i] - facts.mean[i], i);
      if constexpr (has_skip) value += residual[i];
      const bool below = value <= least;  // false for NaN, which stays
      bits |= below ? 0U : 1U << i;
      result.value[i] = from_float<T>(below ? least : value);
    }
    result.store(y + at);
    if (has_skip && launch.positive != nullptr)
      launch.positive[at / W] = static_cast<std::uint8_t>(bits);
  };
  int left = place.turns;
  for (; left >= unroll; left -= unroll, element += unroll * step) {
    Pack<T, W> from[unroll], residual[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      from[u] = Pack<T, W>::at(x + element + u * step);
      if constexpr (has_skip) residual[u] = Pack<T, W>::at(skip + element + u * step);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) put(from[u], residual[u], element + u * step);
  }
  for (; left > 0; --left, element += step) {
    Pack<T, W> residual;
    if constexpr (has_skip) residual = Pack<T, W>::at(skip + element);
    put(Pack<T, W>::at(x + element), residual, element);
  }
}

// Sums of the gradient that passes the ReLU, and of it times x less its mean. by_bits: writes that
// gradient too.
template <class T, int W, bool by_bits>
__global__ void __launch_bounds__(voxel_threads, resident<T>)
    sums_kernel(ChannelNormBackward launch) {
  constexpr int unroll = 2;
  const VoxelLayout& layout = launch.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/true);
  float sums[2][W] = {};
  if (place.turns > 0) {
    const ChannelFacts<W> facts(launch, place);
    const std::int64_t step = place.step(layout);
    std::int64_t element = place.element(layout);
    const auto* const x = static_cast<const T*>(launch.x);
    const auto* const of_y = static_cast<const T*>(launch.of_y);
    const bool relu = launch.relu;
    const auto take = [&](const Pack<T, W>& from, const Pack<T, W>& up, unsigned bits,
                          std::int64_t at) {
      Pack<T, W> passed;
#pragma unroll
      for (int i = 0; i < W; ++i) {
        const float apart = from[i] - facts.mean[i];
        const bool passes =
            by_bits ? (bits >> i & 1U) != 0 : !relu || !(facts.normed(apart, i) <= 0);
        const float gradient = passes ? up[i] : 0.0F;
        if constexpr (by_bits) passed.value[i] = from_float<T>(gradient);
        sums[0][i] += gradient;
        sums[1][i] += gradient * apart;
      }
      if constexpr (by_bits) passed.store(static_cast<T*>(launch.of_skip) + at);
    };
    int left = place.turns;
    for (; left >= unroll; left -= unroll, element += unroll * step) {
      Pack<T, W> from[unroll], up[unroll];
      unsigned bits[unroll] = {};
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        from[u] = Pack<T, W>::at(x + element + u * step);
        up[u] = Pack<T, W>::at(of_y + element + u * step);
        if constexpr (by_bits) bits[u] = launch.positive[(element + u * step) / W];
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) take(from[u], up[u], bits[u], element + u * step);
    }
    for (; left > 0; --left, element += step)
      take(Pack<T, W>::at(x + element), Pack<T, W>::at(of_y + element),
           by_bits ? launch.positive[element / W] : 0U, element);
  }
  add_lanes(sums, place);
  if (place.lane != 0 || place.turns == 0) return;
  store_floats(sums[0], launch.partial + partial_place(layout, place, 2, 0));
  store_floats(sums[1], launch.partial + partial_place(layout, place, 2, 1));
}

// Adds up the chunks, and divides: sums [statistics, 2] are what to take from each gradient, and
// from it for each unit that x is above its mean.
__global__ void __launch_bounds__(32 * finish_warps)
    finish_sums_kernel(ChannelNormBackward launch) {
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
  if (launch.of_scale != nullptr) launch.of_scale[entries.statistic] += product * inverse;
  if (launch.of_bias != nullptr) launch.of_bias[entries.statistic] += sum;
  const float one_over = 1.0F / static_cast<float>(layout.voxels * entries.members);
  launch.sums[entries.statistic * 2] = sum * one_over;
  launch.sums[entries.statistic * 2 + 1] = product * one_over * inverse * inverse;
}

template <class T, int W>
__global__ void __launch_bounds__(voxel_threads, resident<T>)
    gradient_kernel(ChannelNormBackward launch) {
  constexpr int unroll = 2;
  const VoxelLayout& layout = launch.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/false);
  if (place.turns == 0) return;
  const ChannelFacts<W> facts(launch, place);
  float share[W], slope[W];
#pragma unroll
  for (int i = 0; i < W; ++i) {
    const std::int64_t statistic = place.statistic(layout) + (layout.together ? 0 : i);
    share[i] = launch.given ? 0.0F : launch.sums[statistic * 2];
    slope[i] = launch.given ? 0.0F : launch.sums[statistic * 2 + 1];
  }
  const bool relu = launch.relu && launch.positive == nullptr;
  const auto* const x = static_cast<const T*>(launch.x);
  const auto* const ups =
      static_cast<const T*>(launch.positive == nullptr ? launch.of_y : launch.of_skip);
  auto* const of_x = static_cast<T*>(launch.of_x);
  const std::int64_t step = place.step(layout);
  std::int64_t element = place.element(layout);
  const auto put = [&](const Pack<T, W>& from, const Pack<T, W>& up, std::int64_t at) {
    Pack<T, W> result;
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const float apart = from[i] - facts.mean[i];
      const float gradient = relu && facts.normed(apart, i) <= 0 ? 0.0F : up[i];
      result.value[i] = from_float<T>((gradient - share[i] - apart * slope[i]) * facts.factor[i]);
    }
    result.store(of_x + at);
  };
  int left = place.turns;
  for (; left >= unroll; left -= unroll, element += unroll * step) {
    Pack<T, W> from[unroll], up[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      from[u] = Pack<T, W>::at(x + element + u * step);
      up[u] = Pack<T, W>::at(ups + element + u * step);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) put(from[u], up[u], element + u * step);
  }
  for (; left > 0; --left, element += step)
    put(Pack<T, W>::at(x + element), Pack<T, W>::at(ups + element), element);
}

}  // namespace

cudaError_t launch_channel_norm_forward(const ChannelNormForward& launch, cudaStream_t stream) {
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    if (launch.given) {
      given_moments_kernel<<<finish_blocks(launch.layout), 32, 0, stream>>>(launch);
    } else {
      moments_kernel<T, W><<<blocks, voxel_threads, 0, stream>>>(launch);
      finish_moments_kernel<<<finish_grid(launch.layout), finish_threads, 0, stream>>>(launch);
    }
    if (launch.skip != nullptr)
      apply_kernel<T, W, true><<<blocks, voxel_threads, 0, stream>>>(launch);
    else
      apply_kernel<T, W, false><<<blocks, voxel_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_channel_norm_backward(const ChannelNormBackward& launch, cudaStream_t stream) {
  return with_voxels(launch.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    const bool sums_wanted =
        !launch.given || launch.of_scale != nullptr || launch.of_bias != nullptr;
    if (launch.positive != nullptr)
      sums_kernel<T, W, true><<<blocks, voxel_threads, 0, stream>>>(launch);
    else if (sums_wanted)
      sums_kernel<T, W, false><<<blocks, voxel_threads, 0, stream>>>(launch);
    if (sums_wanted)
      finish_sums_kernel<<<finish_grid(launch.layout), finish_threads, 0, stream>>>(launch);
    gradient_kernel<T, W><<<blocks, voxel_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
