// How blocks and threads divide a tensor [rows, voxels, channels]. A block takes a chunk of a row's
// voxels. A thread always takes the same W channels of every n-th voxel, so neighbouring threads
// read neighbouring elements.
#pragma once

#include "ops/shared/device/element.cuh"
#include "ops/shared/voxel_arguments.h"

#include <cuda_pipeline_primitives.h>

#include <climits>

namespace lockstep {

constexpr int voxel_threads = 256;

// Cache policy for a copy or a load. Its lines are evicted from the L2 cache first, so that data
// which is used again stays.
__device__ inline unsigned long long first_to_go() {
  unsigned long long policy = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

// W channels of a voxel as stored, read as 16-byte words if W is eight.
template <class T, int W>
struct alignas(W == 1 ? sizeof(T) : 16) Pack {
  T value[W];

  __device__ static Pack at(const T* from) { return *reinterpret_cast<const Pack*>(from); }
  // Loads data that nothing reads again soon.
  __device__ static Pack last_at(const T* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (sizeof(Pack) == sizeof(uint4)) {
      uint4 words;
      asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                   : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                   : "l"(from), "l"(first_to_go()));
      return *reinterpret_cast<const Pack*>(&words);
    }
#endif
    return at(from);
  }
  __device__ float operator[](int i) const { return to_float(value[i]); }
  __device__ void store(T* to) const { *reinterpret_cast<Pack*>(to) = *this; }
};

struct VoxelPlace {
  std::int64_t row = 0, chunk = 0;
  int groups = 0;  // groups of channels, over which neighbouring threads are spread
  // This thread's index among the threads with the same channels; their number.
  int lane = 0, lanes = 0;
  std::int64_t channel = 0;  // the thread's first channel
  std::int64_t voxel = 0;    // the thread's first voxel in the row
  int turns = 0;             // number of the thread's voxels, `lanes` apart; 0 without channels

  // The index of the thread's first element in the tensor, and the step from one of its voxels to
  // the next.
  __device__ std::int64_t element(const VoxelLayout& layout) const {
    return (row * layout.voxels + voxel) * layout.channels + channel;
  }
  __device__ std::int64_t step(const VoxelLayout& layout) const { return lanes * layout.channels; }
  // The index of the thread's first statistic.
  __device__ std::int64_t statistic(const VoxelLayout& layout) const {
    return layout.together ? row : row * layout.channels + channel;
  }
};

// backwards: the last blocks to run take the first rows. A pass then finds in the cache the end of
// the data that the previous pass has just read or written.
template <int W>
__device__ VoxelPlace voxel_place(const VoxelLayout& layout, bool backwards) {
  VoxelPlace place;
  // 64-bit divisions would take longer than the reads of a small tensor.
  const unsigned block = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const auto slabs = static_cast<unsigned>(layout.slabs);
  const auto chunks = static_cast<unsigned>(layout.chunks);
  const unsigned of_row = block / slabs, row = of_row / chunks;
  place.row = row;
  place.chunk = of_row - row * chunks;
  place.groups = layout.block_groups;
  place.lanes = voxel_threads / place.groups;
  place.lane = static_cast<int>(threadIdx.x) / place.groups;
  const int group = static_cast<int>(block - of_row * slabs) * place.groups +
                    static_cast<int>(threadIdx.x) - place.lane * place.groups;
  place.channel = static_cast<std::int64_t>(group) * W;
  const std::int64_t begin = place.chunk * layout.chunk_voxels;
  place.voxel = begin + place.lane;
  const std::int64_t rest = layout.voxels - begin;
  const auto left =
      static_cast<int>(rest < layout.chunk_voxels ? rest : layout.chunk_voxels) - place.lane;
  if (place.lane < place.lanes && place.channel < layout.channels && left > 0)
    place.turns = (left + place.lanes - 1) / place.lanes;
  return place;
}

// Copies 16 bytes into shared memory without waiting. last: nothing reads them again soon.
__device__ inline void copy_word(void* to, const void* from, bool last) {
  if (!last) return __pipeline_memcpy_async(to, from, 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "l"(first_to_go())
               : "memory");
#endif
}

// The `other` of for_turns if nothing is read besides the vectors.
struct Nothing {
  __device__ Nothing operator()(std::int64_t /*element*/) const { return {}; }
};

// Calls use(vectors, other, element) for each of a thread's voxels in turn. vectors: the W channels
// of each of the N tensors. other: the value that other(element) reads. element: the index of the
// channels in the tensor. `at_once` voxels are read before the first of them is used.
// If `ahead` is above 0, and from compute capability 8.0 on, the vectors come through shared memory
// [ahead, N, voxel_threads]. They are requested `ahead` turns before, so that the same amount is
// always in flight. last: bit n is set if nothing reads tensor n again soon. All threads of the
// block call it.
template <class T, int W, int at_once, int ahead, unsigned last, int N, class Other, class Use>
__device__ void for_turns(const VoxelPlace& place, const VoxelLayout& layout,
                          const T* const (&from)[N], const Other& other, const Use& use) {
  const std::int64_t step = place.step(layout);
  std::int64_t element = place.element(layout);
  using Vectors = Pack<T, W>[N];
  using Read = decltype(other(element));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (W == 8 && ahead > 0) {
    __shared__ Pack<T, W> slots[ahead][N][voxel_threads];
    Read reads[ahead];
    std::int64_t asked = element;
    const auto ask = [&](int slot) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        auto* const to = reinterpret_cast<char*>(&slots[slot][n][threadIdx.x]);
        const auto* const at = reinterpret_cast<const char*>(from[n] + asked);
#pragma unroll
        for (int word = 0; word < static_cast<int>(sizeof(Pack<T, W>)); word += 16)
          copy_word(to + word, at + word, (last >> n & 1) != 0);
      }
      reads[slot] = other(asked);
      asked += step;
    };
#pragma unroll
    for (int slot = 0; slot < ahead; ++slot) {
      if (slot < place.turns) ask(slot);
      __pipeline_commit();
    }
    for (int begin = 0; begin < place.turns; begin += ahead)
#pragma unroll
      for (int slot = 0; slot < ahead; ++slot) {
        if (begin + slot >= place.turns) break;
        __pipeline_wait_prior(ahead - 1);
        Vectors vectors;
#pragma unroll
        for (int n = 0; n < N; ++n) vectors[n] = slots[slot][n][threadIdx.x];
        use(vectors, reads[slot], element);
        element += step;
        if (begin + slot + ahead < place.turns) ask(slot);
        __pipeline_commit();
      }
    return;
  }
#endif
  const auto read = [&](Vectors& vectors, std::int64_t at) {
#pragma unroll
    for (int n = 0; n < N; ++n)
      vectors[n] =
          (last >> n & 1) != 0 ? Pack<T, W>::last_at(from[n] + at) : Pack<T, W>::at(from[n] + at);
  };
  int left = place.turns;
  for (; left >= at_once; left -= at_once, element += at_once * step) {
    Vectors vectors[at_once];
    Read reads[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      read(vectors[u], element + u * step);
      reads[u] = other(element + u * step);
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) use(vectors[u], reads[u], element + u * step);
  }
  for (; left > 0; --left, element += step) {
    Vectors vectors;
    read(vectors, element);
    use(vectors, other(element), element);
  }
}

// Sums over the threads with the same channels, always in the same order. The first of these
// threads gets the sums. All threads of the block call it.
template <int N, int W>
__device__ void add_lanes(float (&values)[N][W], const VoxelPlace& place) {
  __shared__ float shared[N][W][voxel_threads];
  const auto thread = static_cast<int>(threadIdx.x);
  if (32 % place.groups == 0) {  // first within each warp, then over the warps
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int i = 0; i < W; ++i) {
        for (int apart = place.groups; apart < 32; apart *= 2)
          values[n][i] += __shfl_xor_sync(0xffffffffU, values[n][i], apart);
        if (thread % 32 < place.groups)
          shared[n][i][thread / 32 * place.groups + thread % 32] = values[n][i];
      }
    __syncthreads();
    if (thread < place.groups)
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int i = 0; i < W; ++i)
          for (int warp = 1; warp < voxel_threads / 32; ++warp)
            values[n][i] += shared[n][i][warp * place.groups + thread];
    __syncthreads();
    return;
  }
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < W; ++i) shared[n][i][threadIdx.x] = values[n][i];
  __syncthreads();
  for (int lanes = place.lanes; lanes > 1;) {
    const int half = (lanes + 1) / 2;
    if (place.lane + half < lanes) {
      const int other = static_cast<int>(threadIdx.x) + half * place.groups;
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int i = 0; i < W; ++i) {
          values[n][i] += shared[n][i][other];
          shared[n][i][threadIdx.x] = values[n][i];
        }
    }
    lanes = half;
    __syncthreads();
  }
}

// Index of a thread's W values for the `kind`-th of `kinds` sums in [rows, chunks, kinds,
// channels].
__device__ inline std::int64_t partial_place(const VoxelLayout& layout, const VoxelPlace& place,
                                             int kinds, int kind) {
  return ((place.row * layout.chunks + place.chunk) * kinds + kind) * layout.channels +
         place.channel;
}

template <int W>
__device__ void store_floats(const float (&values)[W], float* to) {
#pragma unroll
  for (int i = 0; i < W; ++i) to[i] = values[i];
}

// A block that finishes partial sums has blockDim.x statistics, usually 32. Each has blockDim.y
// threads, usually `finish_lanes`.
constexpr int finish_lanes = 8;

struct Entries {
  std::int64_t statistic = 0, row = 0, channel = 0;
  std::int64_t members = 0, count = 0;  // number of partial sums in a chunk, and in all chunks
};

__device__ inline Entries entries_of(const VoxelLayout& layout) {
  Entries entries;
  entries.statistic = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  entries.row = layout.together ? entries.statistic : entries.statistic / layout.channels;
  entries.channel = layout.together ? 0 : entries.statistic % layout.channels;
  entries.members = layout.together ? layout.channels : 1;
  entries.count = entries.statistic < layout.statistics ? layout.chunks * entries.members : 0;
  return entries;
}

inline unsigned finish_blocks(const VoxelLayout& layout, int together = 32) {
  return static_cast<unsigned>((layout.statistics + together - 1) / together);
}

// Calls `function` with an element type, the vector width as a type, and the number of blocks of a
// kernel over all voxels.
template <int n>
struct Width {
  static constexpr int value = n;
};
template <class Function>
cudaError_t with_voxels(const VoxelLayout& layout, const Function& function) {
  const std::int64_t blocks = layout.rows * layout.chunks * layout.slabs;
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  if (blocks == 0) return cudaSuccess;
  return with_type(layout.dtype, [&](auto element) {
    return layout.vectors ? function(element, Width<8>(), static_cast<unsigned>(blocks))
                          : function(element, Width<1>(), static_cast<unsigned>(blocks));
  });
}

}  // namespace lockstep
