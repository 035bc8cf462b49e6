// A network's first convolution, over blocks of pixels, by tensor cores. Each result needs 256
// numbers: four blocks of 16 channels from each of four lines. The 64 numbers of a line are
// contiguous. A thread block computes a tile of 8 x 32 results with 64 output channels. It keeps
// the blocks of pixels that they need in shared memory, then goes on to its next tile. Libraries
// take twice as long, because they see a 4 x 4 kernel with few channels.
#include "ops/block_convolution/block_convolution_launch.h"
#include "ops/shared/device/early_launch.cuh"
#include "ops/shared/device/tensor_cores.cuh"

#include <cuda_pipeline.h>

namespace lockstep {
namespace {

constexpr int warps = 4, threads = 32 * warps;
constexpr int taps = 4, depth = 16;  // blocks along each side of the kernel; channels of a block
constexpr int outs = block_convolution_outs;  // output channels of a thread block
constexpr int runs = taps * taps * depth;     // input numbers of one result
constexpr int tile_height = block_tile_height, tile_width = block_tile_width;  // results of a tile
constexpr int patch_height = tile_height + taps - 1, patch_width = tile_width + taps - 1;
constexpr int patch_pitch = patch_width + 1;                 // distance between lines, in blocks
constexpr int patch_words = patch_height * patch_pitch * 2;  // words of 16 bytes
constexpr int weight_words = outs * runs / 8, tile_words = tile_height * tile_width * outs / 8;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// The order of 16-byte words in shared memory. Eight words of neighbouring rows that are read
// together lie in different banks.
__device__ constexpr int patch_word(int block, int half) {
  return 2 * block + (half ^ (block >> 2 & 1));
}
__device__ constexpr int weight_word(int row, int word) {
  return row * (runs / 8) + (word ^ (row & 7));
}
__device__ constexpr int tile_word(int result, int word) {
  return result * (outs / 8) + (word ^ (result & 7));
}

// The place of a tile: its picture and its first result.
struct Tile {
  std::int64_t picture;
  int y, x;
  __device__ Tile(const BlockConvolution& shape, std::int64_t number) {
    const int across = (shape.width + tile_width - 1) / tile_width,
              down = (shape.height + tile_height - 1) / tile_height;
    picture = number / (across * down);
    const auto inside = static_cast<int>(number - picture * (across * down));
    y = inside / across * tile_height;
    x = inside % across * tile_width;
  }
};

// Requests the blocks that the tile's results need, with zeros outside the picture.
__device__ void ask_for_patch(const BlockConvolution& shape, const Tile& tile, uint4* patch) {
  const int height = shape.height + 1, width = shape.width + 1;
  const auto* const from =
      static_cast<const uint4*>(shape.blocks) + tile.picture * height * width * 2;
  for (int i = static_cast<int>(threadIdx.x); i < patch_height * patch_width * 2; i += threads) {
    const int half = i % 2, row = i / 2 / patch_width, column = i / 2 % patch_width;
    const int y = tile.y + row - 1, x = tile.x + column - 1;
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    __pipeline_memcpy_async(
        patch + patch_word(row * patch_pitch + column, half),
        from + (inside ? (static_cast<std::int64_t>(y) * width + x) * 2 + half : 0), 16,
        inside ? 0 : 16);
  }
}

// The thread's row address, for load_matrices, of 16 blocks of pixels from (row, column) of the
// patch.
__device__ const uint4* patch_row(const uint4* patch, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return patch + patch_word(row * patch_pitch + column + lane % 16, lane / 16);
}

// The index in the weight of the k-th of a result's 256 weights. Negative if that weight is zero.
__device__ std::int64_t weight_place(const BlockConvolution& shape,
                                     const std::int64_t (&strides)[4], int out, int k) {
  const int channel = k % 4, tap = k / depth;
  const int y = tap / taps * 2 + k / 8 % 2, x = tap % taps * 2 + k / 4 % 2;
  if (channel >= shape.channels || y >= block_convolution_size || x >= block_convolution_size)
    return -1;
  return out * strides[0] + channel * strides[1] + y * strides[2] + x * strides[3];
}
#endif

template <class T>
__global__ void __launch_bounds__(threads, 2)
    block_convolution_kernel(BlockConvolutionForward launch, std::int64_t tiles) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  let_the_next_begin();
  wait_for_those_before();
  extern __shared__ uint4 memory[];
  __shared__ WarpMoments moments[warps];
  uint4 *const weight = memory, *const patches = memory + weight_words;
  const BlockConvolution& shape = launch.shape;
  const int first_out = static_cast<int>(blockIdx.y) * outs;
  std::int64_t number = blockIdx.x;
  if (number < tiles) ask_for_patch(shape, Tile(shape, number), patches);
  __pipeline_commit();
  for (int i = static_cast<int>(threadIdx.x); i < weight_words; i += threads) {
    const int row = i / (runs / 8), word = i % (runs / 8);
    Eight<T> eight;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const std::int64_t place = weight_place(shape, launch.weight_strides,
                                              first_out + out_of(row / 8, row % 8), word * 8 + k);
      eight.value[k] =
          place < 0 ? from_float<T>(0.0F) : static_cast<const T*>(launch.weight)[place];
    }
    weight[weight_word(row, word)] = reinterpret_cast<const uint4&>(eight);
  }
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int turn = 0; number < tiles; number += gridDim.x, turn ^= 1) {
    if (number + gridDim.x < tiles)
      ask_for_patch(shape, Tile(shape, number + gridDim.x), patches + (turn ^ 1) * patch_words);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const uint4* const patch = patches + turn * patch_words;
    // The warp computes two lines of 32 results, in groups of 16.
    WarpResults<4> sums = {};
    for (int down = 0; down < taps; ++down)
#pragma unroll
      for (int across = 0; across < taps; ++across) {
        unsigned a[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          load_matrices<false>(patch_row(patch, 2 * warp + i / 2 + down, i % 2 * 16 + across),
                               a[i]);
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
          unsigned b[4];
          load_matrices<false>(weight + weight_word(pair * 16 + lane / 16 * 8 + lane % 8,
                                                    2 * (down * taps + across) + lane / 8 % 2),
                               b);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            multiply<T>(sums[i][2 * pair], a[i], b[0], b[1]);
            multiply<T>(sums[i][2 * pair + 1], a[i], b[2], b[3]);
          }
        }
      }
    const Tile tile(shape, number);
    unsigned valid = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int y = tile.y + 2 * warp + i / 2, x = tile.x + i % 2 * 16 + half * 8 + lane / 4;
        if (y >= shape.height || x >= shape.width) continue;
        valid |= 1U << (2 * i + half);
        store_row<4>(sums, i, half,
                     static_cast<T*>(launch.y) +
                         ((tile.picture * shape.height + y) * shape.width + x) * shape.outs +
                         first_out + lane % 4 * 16);
      }
    if (launch.moments != nullptr)
      add_moments<4>(
          moments[warp], sums, valid,
          max(0, min(2, shape.height - tile.y - 2 * warp)) * min(tile_width, shape.width - tile.x),
          number == blockIdx.x);
    __syncthreads();
  }
  if (launch.moments == nullptr) return;
  const auto tid = static_cast<int>(threadIdx.x);
  if (tid < outs) {
    float* const mean =
        launch.moments + static_cast<std::int64_t>(blockIdx.x) * 2 * shape.outs + first_out + tid;
    finish_block_moments(moments, warps, 1, tid, mean, mean + shape.outs);
  }
  if (blockIdx.y == 0 && tid == 0) {
    int rows = 0;
    for (const WarpMoments& one : moments) rows += one.rows;
    launch.elements[blockIdx.x] = static_cast<float>(rows);
  }
#endif
}

// Each warp handles the blocks of one of the kernel's four lines. The result's gradient and the
// patch of a tile are in shared memory.
template <class T>
__global__ void __launch_bounds__(threads, 2)
    block_gradient_kernel(BlockConvolutionBackward launch, std::int64_t tiles) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  let_the_next_begin();
  wait_for_those_before();
  extern __shared__ uint4 memory[];
  constexpr int stage = tile_words + patch_words;
  const BlockConvolution& shape = launch.shape;
  const int first_out = static_cast<int>(blockIdx.y) * outs;
  const auto ask = [&](std::int64_t number, uint4* to) {
    const Tile tile(shape, number);
    for (int i = static_cast<int>(threadIdx.x); i < tile_words; i += threads) {
      const int word = i % (outs / 8), result = i / (outs / 8);
      const int y = tile.y + result / tile_width, x = tile.x + result % tile_width;
      const bool inside = y < shape.height && x < shape.width;
      const auto* const from =
          static_cast<const T*>(launch.of_y) + first_out +
          (inside ? ((tile.picture * shape.height + y) * shape.width + x) * shape.outs : 0) +
          word * 8;
      __pipeline_memcpy_async(to + tile_word(result, word), from, 16, inside ? 0 : 16);
    }
    ask_for_patch(shape, tile, to + tile_words);
  };
  std::int64_t number = blockIdx.x;
  if (number < tiles) ask(number, memory);
  __pipeline_commit();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  // [group of 16 channels of y, group of 8 of the line's 64 numbers, the thread's results]
  float sums[4][8][4] = {};
  for (int turn = 0; number < tiles; number += gridDim.x, turn ^= 1) {
    if (number + gridDim.x < tiles) ask(number + gridDim.x, memory + (turn ^ 1) * stage);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const uint4 *const of_y = memory + turn * stage, *const patch = of_y + tile_words;
#pragma unroll 2
    for (int step = 0; step < tile_height * tile_width / 16; ++step) {
      const int row = step / 2, column = step % 2 * 16;
      unsigned a[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load_matrices<true>(of_y + tile_word(row * tile_width + column + lane / 16 * 8 + lane % 8,
                                             2 * i + lane / 8 % 2),
                            a[i]);
#pragma unroll
      for (int across = 0; across < taps; ++across) {
        unsigned b[4];
        load_matrices<true>(patch_row(patch, row + warp, column + across), b);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          multiply<T>(sums[i][2 * across], a[i], b[0], b[1]);
          multiply<T>(sums[i][2 * across + 1], a[i], b[2], b[3]);
        }
      }
    }
    __syncthreads();
  }
  float* const to = launch.partial +
                    (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * outs * runs;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < 8; ++n)
        *reinterpret_cast<float2*>(to + (i * 16 + half * 8 + lane / 4) * runs +
                                   warp * taps * depth + n * 8 + lane % 4 * 2) =
            make_float2(sums[i][n][half * 2], sums[i][n][half * 2 + 1]);
#endif
}

// Adds up the shares of all thread blocks, and adds the sum to the weight's gradient. A thread sums
// every share_lanes-th share of four numbers.
constexpr int share_lanes = 16;
__global__ void __launch_bounds__(32 * share_lanes)
    finish_block_gradient_kernel(BlockConvolutionBackward launch, int shares) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  let_the_next_begin();
  wait_for_those_before();
  __shared__ float4 of_lanes[share_lanes][32];
  const int four = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  const auto* const from = reinterpret_cast<const float4*>(launch.partial) +
                           static_cast<std::int64_t>(blockIdx.y) * shares * outs * runs / 4 + four;
  const auto add = [](float4& to, const float4& value) {
    to.x += value.x;
    to.y += value.y;
    to.z += value.z;
    to.w += value.w;
  };
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
  for (int share = static_cast<int>(threadIdx.y); share < shares; share += share_lanes)
    add(sum, from[static_cast<std::int64_t>(share) * outs * runs / 4]);
  of_lanes[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
#pragma unroll
  for (int lane = 1; lane < share_lanes; ++lane) add(sum, of_lanes[lane][threadIdx.x]);
  const int out = static_cast<int>(blockIdx.y) * outs + four * 4 / runs;
  const float numbers[] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t place =
        weight_place(launch.shape, launch.weight_strides, out, (four * 4 + i) % runs);
    if (place >= 0) launch.of_weight[place] += numbers[i];
  }
#endif
}

bool fits(const BlockConvolution& shape) {
  return shape.outs % outs == 0 && shape.outs / outs <= 65535 && shape.channels >= 1 &&
         shape.channels <= 4;
}

// The grid has a column of thread blocks for every 64 output channels.
dim3 grid_of(const BlockConvolution& shape) {
  return {static_cast<unsigned>(chunks_of(shape)), static_cast<unsigned>(shape.outs / outs)};
}

constexpr std::size_t forward_bytes = (weight_words + 2 * patch_words) * 16,
                      gradient_bytes = 2 * (tile_words + patch_words) * 16;

}  // namespace

bool block_convolution_runs_here() {
  const auto* const kernel = reinterpret_cast<const void*>(&block_gradient_kernel<__nv_bfloat16>);
  return runs_on_tensor_cores(kernel, gradient_bytes);  // the kernel that needs most shared memory
}

cudaError_t launch_block_convolution_forward(const BlockConvolutionForward& launch,
                                             cudaStream_t stream) {
  const BlockConvolution& shape = launch.shape;
  if (!fits(shape)) return cudaErrorInvalidValue;
  return with_half_type(shape.dtype, [&](auto element) {
    return launch_with_memory(block_convolution_kernel<decltype(element)>, grid_of(shape), threads,
                              forward_bytes, stream, launch, tiles_of(shape));
  });
}

cudaError_t launch_block_convolution_backward(const BlockConvolutionBackward& launch,
                                              cudaStream_t stream) {
  const BlockConvolution& shape = launch.shape;
  if (!fits(shape)) return cudaErrorInvalidValue;
  const cudaError_t error = with_half_type(shape.dtype, [&](auto element) {
    return launch_with_memory(block_gradient_kernel<decltype(element)>, grid_of(shape), threads,
                              gradient_bytes, stream, launch, tiles_of(shape));
  });
  if (error != cudaSuccess) return error;
  const dim3 blocks(outs * runs / 4 / 32, static_cast<unsigned>(shape.outs / outs));
  launch_early(finish_block_gradient_kernel, blocks, dim3(32, share_lanes), stream, launch,
               static_cast<int>(chunks_of(shape)));
  return cudaGetLastError();
}

}  // namespace lockstep
