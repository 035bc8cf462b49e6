// A 1 x 1 convolution from few channels to many, by tensor cores. While a result is in registers,
// the kernel also sums its moments for batch norm. The result is several times larger than the
// input, so writing it takes most of the time. A thread block keeps its part of the weight, and
// processes one tile of 64 rows and 256 columns after another.
#include "ops/pointwise/pointwise_moments_launch.h"
#include "ops/shared/device/early_launch.cuh"
#include "ops/shared/device/tensor_cores.cuh"

#include <cuda_pipeline.h>

namespace lockstep {
namespace {

constexpr int warps_down = 2, warps_across = 4, warps = warps_down * warps_across;
constexpr int down_each = 2, warp_rows = 16 * down_each;  // rows of a warp
constexpr int threads = 32 * warps, tile_rows = warp_rows * warps_down,
              tile_outs = pointwise_moments_outs;
static_assert(tile_outs == 64 * warps_across);
constexpr int depth = pointwise_moments_depth, row_words = depth / 8;  // words of 16 bytes

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// The place in shared memory of a row's 16-byte word. The same word of eight neighbouring rows lies
// in different banks.
__device__ constexpr int word_at(int row, int word) { return row * row_words + (word ^ (row & 7)); }
#endif
constexpr std::size_t memory_bytes = (tile_outs + 2 * tile_rows) * row_words * 16;

template <class T>
__global__ void __launch_bounds__(threads, 2) pointwise_moments_kernel(PointwiseMoments launch) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  let_the_next_begin();
  wait_for_those_before();
  extern __shared__ uint4 memory[];
  __shared__ WarpMoments moments[warps];
  uint4 *const weight = memory, *const tiles = memory + tile_outs * row_words;
  const int tid = static_cast<int>(threadIdx.x), warp = tid / 32, lane = tid % 32;
  const int down = warp / warps_across, across = warp % warps_across;
  const int first_out = static_cast<int>(blockIdx.y) * tile_outs;
  const std::int64_t count = (launch.rows + tile_rows - 1) / tile_rows;
  const auto ask = [&](std::int64_t number, uint4* to) {
    for (int i = tid; i < tile_rows * row_words; i += threads) {
      const int row = i / row_words, word = i % row_words;
      const std::int64_t at = number * tile_rows + row;
      const bool inside = at < launch.rows;
      __pipeline_memcpy_async(
          to + word_at(row, word),
          static_cast<const uint4*>(launch.x) + (inside ? at * row_words + word : 0), 16,
          inside ? 0 : 16);
    }
  };
  for (int i = tid; i < tile_outs * row_words; i += threads) {
    const int row = i / row_words, word = i % row_words;
    const int out = first_out + row / 64 * 64 + out_of(row % 64 / 8, row % 8);
    __pipeline_memcpy_async(weight + word_at(row, word),
                            static_cast<const uint4*>(launch.weight) +
                                static_cast<std::int64_t>(out) * row_words + word,
                            16);
  }
  std::int64_t number = blockIdx.x;
  if (number < count) ask(number, tiles);
  __pipeline_commit();
  for (int turn = 0; number < count; number += gridDim.x, turn ^= 1) {
    if (number + gridDim.x < count)
      ask(number + gridDim.x, tiles + (turn ^ 1) * tile_rows * row_words);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const uint4* const tile = tiles + turn * tile_rows * row_words;
    WarpResults<down_each> results = {};
#pragma unroll
    for (int k = 0; k < depth / 16; ++k) {
      unsigned a[down_each][4];
#pragma unroll
      for (int i = 0; i < down_each; ++i)
        load_matrices<false>(
            tile + word_at(down * warp_rows + i * 16 + lane % 16, 2 * k + lane / 16), a[i]);
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        unsigned b[4];
        load_matrices<false>(weight + word_at(across * 64 + pair * 16 + lane / 16 * 8 + lane % 8,
                                              2 * k + lane / 8 % 2),
                             b);
#pragma unroll
        for (int i = 0; i < down_each; ++i) {
          multiply<T>(results[i][2 * pair], a[i], b[0], b[1]);
          multiply<T>(results[i][2 * pair + 1], a[i], b[2], b[3]);
        }
      }
    }
    const std::int64_t first_row = number * tile_rows + down * warp_rows,
                       left = launch.rows - first_row;
    unsigned valid = 0;
#pragma unroll
    for (int i = 0; i < down_each; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = i * 16 + half * 8 + lane / 4;
        if (row >= left) continue;
        valid |= 1U << (2 * i + half);
        store_row<down_each>(results, i, half,
                             static_cast<T*>(launch.y) + (first_row + row) * launch.outs +
                                 first_out + across * 64 + lane % 4 * 16);
      }
    add_moments<down_each>(moments[warp], results, valid,
                           left < 0 ? 0 : static_cast<int>(left < warp_rows ? left : warp_rows),
                           number == blockIdx.x);
    __syncthreads();
  }
  float* const mean =
      launch.partial + static_cast<std::int64_t>(blockIdx.x) * 2 * launch.outs + first_out + tid;
  finish_block_moments(moments + tid / 64, warps_down, warps_across, tid % 64, mean,
                       mean + launch.outs);
  if (blockIdx.y == 0 && tid == 0) {
    int rows = 0;
    for (int i = 0; i < warps_down; ++i) rows += moments[i * warps_across].rows;
    launch.elements[blockIdx.x] = static_cast<float>(rows);
  }
#endif
}

}  // namespace

bool pointwise_moments_runs_here() {
  const auto* const kernel =
      reinterpret_cast<const void*>(&pointwise_moments_kernel<__nv_bfloat16>);
  return runs_on_tensor_cores(kernel, memory_bytes);
}

cudaError_t launch_pointwise_moments(const PointwiseMoments& launch, cudaStream_t stream) {
  if (launch.outs % tile_outs != 0 || launch.outs / tile_outs > 65535) return cudaErrorInvalidValue;
  const dim3 blocks(static_cast<unsigned>(launch.chunks),
                    static_cast<unsigned>(launch.outs / tile_outs));
  return with_half_type(launch.dtype, [&](auto element) {
    return launch_with_memory(pointwise_moments_kernel<decltype(element)>, blocks, threads,
                              memory_bytes, stream, launch);
  });
}

}  // namespace lockstep
