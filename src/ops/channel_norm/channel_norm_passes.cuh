// Common parts of the passes of a norm over a batch. Blocks finish the chunk sums that they need,
// and apply them to each element.
#pragma once

#include "ops/channel_norm/channel_norm_facts.cuh"

namespace lockstep {

__device__ inline float elements_of_chunk(const VoxelLayout& layout, std::int64_t chunk) {
  const std::int64_t left = layout.voxels - chunk * layout.chunk_voxels;
  return static_cast<float>(left < layout.chunk_voxels ? left : layout.chunk_voxels);
}

// The number of turns by which 16-bit elements are requested ahead (for_turns), by the number of
// tensors read. 0 turns it off. bench/micro/channel_norm.sh compares other values.
#ifndef NORM_AHEAD_1
#define NORM_AHEAD_1 3
#define NORM_AHEAD_2 2
#endif
template <class T, int tensors>
constexpr int ahead = sizeof(T) != 2 || tensors > 2 ? 0
                      : tensors == 1                ? NORM_AHEAD_1
                                                    : NORM_AHEAD_2;

// Calls take(first sum of a chunk, second sum, its elements) for every `apart`-th chunk from
// `begin` on. Reads the sums of `at_once` chunks at a time. from: the statistic's first sum in the
// first chunk. elements: the number of elements in each chunk, or null if it follows from the
// layout.
template <int at_once, int apart, class Take>
__device__ void for_chunks(const VoxelLayout& layout, const float* from, int begin,
                           const Take& take, const float* elements = nullptr) {
  const auto chunks = static_cast<int>(layout.chunks);
  const std::int64_t step = 2 * layout.channels;
  for (int base = begin; base < chunks; base += at_once * apart) {
    float first[at_once], second[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const int chunk = base + u * apart;
      first[u] = chunk < chunks ? from[chunk * step] : 0.0F;
      second[u] = chunk < chunks ? from[chunk * step + layout.channels] : 0.0F;
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const int chunk = base + u * apart;
      if (chunk < chunks)
        take(first[u], second[u],
             elements != nullptr ? elements[chunk] : elements_of_chunk(layout, chunk));
    }
  }
}

// If readers finish the sums (VoxelLayout::finished_by_readers), a block has this many threads for
// each of its channels.
constexpr int readers = voxel_threads / reader_channels;

// The finished sums of a block, by channel.
struct FinishedNorm {
  float first[reader_channels], second[reader_channels];
};

// The work of one thread. The thread handles channel channel(), which is the block's local()-th.
struct Reader {
  std::int64_t block_channel;
  __device__ explicit Reader(const VoxelPlace& place)
      : block_channel(place.channel - static_cast<int>(threadIdx.x) % place.groups * 8) {}
  __device__ static int local() { return static_cast<int>(threadIdx.x) % reader_channels; }
  __device__ static int number() { return static_cast<int>(threadIdx.x) / reader_channels; }
  __device__ std::int64_t channel() const { return block_channel + local(); }

  // Calls `take` as for_chunks does, for each chunk of this thread.
  template <class Take>
  __device__ void for_own_chunks(const VoxelLayout& layout, const float* partial,
                                 const Take& take) const {
    for_chunks<8, readers>(layout, partial + channel(), number(), take);
  }
  // The sum over the threads of a channel, always in the same order. Every thread gets it. shared:
  // used for this sum only.
  __device__ static float sum(float value, float (&shared)[readers][reader_channels]) {
    shared[number()][local()] = value;
    __syncthreads();
    float all = 0;
#pragma unroll
    for (int reader = 0; reader < readers; ++reader) all += shared[reader][local()];
    return all;
  }
};

// Computes mean and inverse deviation. All threads of the block call it.
__device__ inline void finish_moments(const ChannelNormForward& launch, const VoxelPlace& place,
                                      FinishedNorm& finished) {
  __shared__ float of_sum[readers][reader_channels], of_squares[readers][reader_channels];
  const Reader reader(place);
  MomentSums sums{.reference = launch.partial[reader.channel()]};
  reader.for_own_chunks(
      launch.layout, launch.partial,
      [&](float mean, float deviations, float count) { sums.take(mean, deviations, count); });
  sums.apart = Reader::sum(sums.apart, of_sum);
  sums.squares = Reader::sum(sums.squares, of_squares);
  const auto count = static_cast<float>(launch.layout.voxels);
  const float mean = sums.mean(count), squares = sums.deviations(count);
  if (Reader::number() == 0) {
    finished.first[Reader::local()] = mean;
    finished.second[Reader::local()] = inverse_of(launch, squares, count);
    if (place.chunk == 0) keep_moments(launch, reader.channel(), mean, squares, count);
  }
  __syncthreads();
}

// Computes share and slope of the block's channels. All threads of the block call it.
__device__ inline void finish_sums(const ChannelNormBackward& launch, const VoxelPlace& place,
                                   FinishedNorm& finished) {
  __shared__ float of_sum[readers][reader_channels], of_product[readers][reader_channels];
  const Reader reader(place);
  const float inverse = launch.inverse_deviation[reader.channel()];
  float sum = 0, product = 0;
  reader.for_own_chunks(launch.layout, launch.partial, [&](float first, float second, float) {
    sum += first;
    product += second;
  });
  sum = Reader::sum(sum, of_sum);
  product = Reader::sum(product, of_product);
  if (Reader::number() == 0) {
    const Shares shares(sum, product, inverse, static_cast<float>(launch.layout.voxels));
    finished.first[Reader::local()] = launch.given ? 0.0F : shares.share;
    finished.second[Reader::local()] = launch.given ? 0.0F : shares.slope;
    if (place.chunk == 0) keep_sums(launch, reader.channel(), sum, product, inverse);
  }
  __syncthreads();
}

// Values shared by all elements of a channel, from the sums that a block has finished or from
// memory.
template <int W, bool finishes>
__device__ ChannelFacts<W> facts_of(const ChannelNormForward& launch, const VoxelPlace& place,
                                    const FinishedNorm& finished) {
  const int local = static_cast<int>(threadIdx.x) % place.groups * W;
  return ChannelFacts<W>(launch, place.statistic(launch.layout),
                         finishes ? finished.first + local : nullptr,
                         finishes ? finished.second + local : nullptr);
}

// The difference between an element's gradient and the gradient that reaches it.
template <int W>
struct ChannelShares {
  float share[W], slope[W];

  ChannelShares() = default;
  // first: the statistic of the first channel.
  __device__ ChannelShares(const ChannelNormBackward& launch, std::int64_t first) {
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const std::int64_t statistic = first + (launch.layout.together ? 0 : i);
      share[i] = launch.given ? 0.0F : launch.sums[statistic * 2];
      slope[i] = launch.given ? 0.0F : launch.sums[statistic * 2 + 1];
    }
  }
  __device__ ChannelShares(const FinishedNorm& finished, int first) {
#pragma unroll
    for (int i = 0; i < W; ++i) {
      share[i] = finished.first[first + i];
      slope[i] = finished.second[first + i];
    }
  }
  __device__ float gradient(float reaching, float apart, const ChannelFacts<W>& facts,
                            int i) const {
    return (reaching - share[i] - apart * slope[i]) * facts.factor[i];
  }
};

template <int W, bool finishes>
__device__ ChannelShares<W> shares_of(const ChannelNormBackward& launch, const VoxelPlace& place,
                                      const FinishedNorm& finished) {
  if constexpr (finishes)
    return ChannelShares<W>(finished, static_cast<int>(threadIdx.x) % place.groups * W);
  else
    return ChannelShares<W>(launch, place.statistic(launch.layout));
}

// Whether the blocks that read x again finish the sums.
template <int W>
constexpr bool may_finish = W == 8;
template <int W>
bool readers_finish(const ChannelNormForward& launch) {
  return may_finish<W> && launch.layout.finished_by_readers && !launch.given &&
         launch.known == nullptr;
}
template <int W>
bool readers_finish(const ChannelNormBackward& launch, bool sums_wanted) {
  return may_finish<W> && launch.layout.finished_by_readers && sums_wanted;
}

// Whether backward needs the sums of the gradient.
inline bool are_sums_wanted(const ChannelNormBackward& launch) {
  return !launch.given || launch.of_scale != nullptr || launch.of_bias != nullptr;
}

// The number of blocks that a multiprocessor must hold so that enough reads are in flight.
template <class T>
constexpr int resident = sizeof(T) == 2 ? 3 : 2;

// Prefetches a thread's first elements into the L2 cache, while the thread reads other data that it
// needs first.
template <class T, int W>
__device__ void ask_for(const T* from, const VoxelPlace& place, const VoxelLayout& layout) {
  constexpr int at_most = 4;
  const T* at = from + place.element(layout);
  const std::int64_t step = place.step(layout);
  for (int turn = 0; turn < min(place.turns, at_most); ++turn, at += step) ask_for_line(at);
}

}  // namespace lockstep
