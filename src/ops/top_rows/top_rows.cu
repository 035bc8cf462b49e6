// Finds the largest numbers of each row. A block handles a row, and its threads hold the row's
// numbers. It first finds the smallest number to keep, bit by bit. Several numbers may be equal to
// that one, so it then finds the last place to keep among these. Both searches count numbers at
// each step. At the end it sorts the numbers to keep.
#include "ops/shared/device/runs.cuh"
#include "ops/top_rows/top_rows_launch.h"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 1024, warps = threads / 32, per_thread = top_rows_most_length / threads;
static_assert(threads == top_rows_most_count);

// Converts a float to an integer key in the same order. NaN has the largest key, and -0 that of 0.
// The key 0 means that there is no number.
__device__ unsigned key_of(float value, KernelDtype dtype) {
  const unsigned bits = value == 0 ? 0U : __float_as_uint(value);
  unsigned key = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  if (value != value) key = 0xffffffffU;
  return dtype == KernelDtype::bf16 ? key & 0xffff0000U : key;
}
__device__ float value_of(unsigned key, KernelDtype dtype) {
  const unsigned bits = (key & 0x80000000U) != 0 ? key ^ 0x80000000U : ~key;
  return __uint_as_float(dtype == KernelDtype::bf16 ? bits & 0xffff0000U : bits);
}

__device__ int count_of_warp(int own) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffU, own);
#else
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) own += __shfl_xor_sync(0xffffffffU, own, lanes);
  return own;
#endif
}

// Returns the sum of `own` over the block to all threads. turn: must change by 1 from call to call.
__device__ int count_of_block(int own, int turn) {
  __shared__ int of_warps[2][warps];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  own = count_of_warp(own);
  if (lane == 0) of_warps[turn % 2][threadIdx.x / 32] = own;
  __syncthreads();
  return count_of_warp(of_warps[turn % 2][lane]);
}

using Entry = unsigned long long;  // the number's key, then the complement of its place

// Sorts the block's entries in descending order (Batcher's bitonic sort). Each thread gets one.
__device__ Entry sorted(Entry entry, Entry (&shared)[threads]) {
  const auto tid = static_cast<int>(threadIdx.x);
  for (int size = 2; size <= threads; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      Entry other = 0;
      if (stride < 32) {
        other = __shfl_xor_sync(0xffffffffU, entry, stride);
      } else {
        __syncthreads();
        shared[tid] = entry;
        __syncthreads();
        other = shared[tid ^ stride];
      }
      const bool takes_larger = ((tid & stride) == 0) == ((tid & size) == 0);
      entry = takes_larger == (other > entry) ? other : entry;
    }
  return entry;
}

template <class T>
__global__ void __launch_bounds__(threads) top_rows_kernel(TopRowsArguments launch) {
  const auto tid = static_cast<int>(threadIdx.x), length = static_cast<int>(launch.length),
             count = static_cast<int>(launch.count);
  const auto base = static_cast<std::uint32_t>(blockIdx.x * launch.length);
  const auto* const x = static_cast<const T*>(launch.x);
  unsigned keys[per_thread];
  constexpr int at_once = 8;  // numbers that are loaded before they are used
#pragma unroll
  for (int begin = 0; begin < per_thread; begin += at_once) {
    T read[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const int i = min((begin + u) * threads + tid, length - 1);
      read[u] = x[place_of(launch.runs, base + static_cast<std::uint32_t>(i))];
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      keys[begin + u] =
          (begin + u) * threads + tid < length ? key_of(to_float(read[u]), launch.dtype) : 0;
  }
  int turn = 0;
  // The smallest key to keep. It is the largest key that at least `count` keys reach.
  unsigned least = 0;
  int reaching = length;
  const int last_bit = launch.dtype == KernelDtype::bf16 ? 16 : 0;
  for (int bit = 31; bit >= last_bit && reaching != count; --bit) {
    const unsigned tried = least | 1U << bit;
    int own = 0;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) own += keys[j] >= tried ? 1 : 0;
    const int found = count_of_block(own, turn++);
    if (found < count) continue;
    least = tried;
    reaching = found;
  }
  // The last place to keep among values equal to the smallest one.
  int last = INT_MAX;
  if (reaching > count) {
    int above = 0;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) above += keys[j] > least ? 1 : 0;
    const int wanted = count - count_of_block(above, turn++);
    last = 0;
    for (int bit = top_rows_most_length / 2; bit > 0; bit /= 2) {
      int own = 0;
#pragma unroll
      for (int j = 0; j < per_thread; ++j)
        own += keys[j] == least && j * threads + tid < last + bit ? 1 : 0;
      if (count_of_block(own, turn++) < wanted) last += bit;
    }
  }
  __shared__ Entry entries[threads];
  __shared__ int taken;
  entries[tid] = 0;
  if (tid == 0) taken = 0;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < per_thread; ++j) {
    const int i = j * threads + tid;
    if (keys[j] == 0 || keys[j] < least || (keys[j] == least && i > last)) continue;
    entries[atomicAdd(&taken, 1)] =
        static_cast<Entry>(keys[j]) << 32 | (0xffffffffU - static_cast<unsigned>(i));
  }
  __syncthreads();
  const Entry entry = sorted(entries[tid], entries);
  if (tid >= count) return;
  const std::int64_t to = blockIdx.x * launch.count + tid;
  launch.values[to] = value_of(static_cast<unsigned>(entry >> 32), launch.dtype);
  launch.index[to] = 0xffffffffU - static_cast<unsigned>(entry);
}

}  // namespace

cudaError_t launch_top_rows(const TopRowsArguments& launch, cudaStream_t stream) {
  if (launch.length > top_rows_most_length || launch.count > top_rows_most_count ||
      launch.count > launch.length || launch.rows > INT_MAX)
    return cudaErrorInvalidValue;
  if (launch.rows == 0) return cudaSuccess;
  return with_type(launch.dtype, [&](auto element) {
    top_rows_kernel<decltype(element)>
        <<<static_cast<unsigned>(launch.rows), threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
