// Tensor-core products from shared memory. A warp computes some rows and 64 columns of a result.
// Also computes the moments of such results, which batch norm needs.
#pragma once

#include "ops/channel_norm/channel_norm_facts.cuh"

#include <type_traits>

namespace lockstep {

// Whether a kernel runs on the current device as code for 8.0 or later. bytes: the shared memory
// that each block needs besides its static memory.
inline bool runs_on_tensor_cores(const void* kernel, std::size_t bytes) {
  cudaFuncAttributes compiled{};
  int device = 0, most = 0;
  const bool is_known =
      cudaFuncGetAttributes(&compiled, kernel) == cudaSuccess &&
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess;
  if (!is_known) static_cast<void>(cudaGetLastError());  // clears the error for the next caller
  return is_known && compiled.ptxVersion >= 80 &&
         static_cast<std::size_t>(most) >= bytes + compiled.sharedSizeBytes;
}

// Calls `function` with an element of that type, to use in decltype. Only 16-bit types are
// possible.
template <class Function>
cudaError_t with_half_type(KernelDtype dtype, const Function& function) {
  if (dtype == KernelDtype::bf16) return function(__nv_bfloat16());
  if (dtype == KernelDtype::f16) return function(__half());
  return cudaErrorInvalidValue;
}

// Launches a kernel with `bytes` of shared memory per block besides its static memory.
template <class... Parameters, class... Arguments>
cudaError_t launch_with_memory(void (*kernel)(Parameters...), dim3 blocks, int threads,
                               std::size_t bytes, cudaStream_t stream,
                               const Arguments&... arguments) {
  if (const cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     static_cast<int>(bytes));
      error != cudaSuccess)
    return error;
  kernel<<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(arguments...);
  return cudaGetLastError();
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// Loads four 8 x 8 matrices. Each thread gives the address of a 16-byte row. transposed: each
// matrix is transposed as it is loaded.
template <bool transposed>
__device__ void load_matrices(const uint4* row, unsigned (&to)[4]) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

// sums [16 x 8] += a [16 x 16] b [16 x 8].
template <class T>
__device__ void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (std::is_same_v<T, __half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A warp's results of 16 rows and 8 columns each, as tensor cores distribute them over threads. Row
// 16 i + 8 h + lane / 4 has the columns out_of(tile, 2 (lane % 4) + e) in [i][tile][2 h + e].
template <int down>
using WarpResults = float[down][8][4];

// Returns the column of the result that is computed as column `column` of the `tile`-th group of 8
// columns. With this order each thread gets 16 neighbouring columns, from 16 (lane % 4) on.
__device__ constexpr int out_of(int tile, int column) {
  return column / 2 * 16 + tile * 2 + column % 2;
}

// Stores a thread's 16 elements of row 16 i + 8 half + lane / 4.
template <int down, class T>
__device__ void store_row(const WarpResults<down>& results, int i, int half, T* to) {
#pragma unroll
  for (int word = 0; word < 2; ++word) {
    float eight[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) eight[k] = results[i][word * 4 + k / 2][half * 2 + k % 2];
    store_eight(eight, to + word * 8);
  }
}

// Sums for each of a warp's 64 columns over its tiles, in shared memory. `sums` adds deviations
// from `reference`, a value of the first tile. `squares` adds the squares of these deviations.
struct WarpMoments {
  float reference[64], sums[64], squares[64];
  int rows;
};

// Adds a tile. valid: bit 2 i + h tells whether the thread's row 16 i + 8 h + lane / 4 exists.
// rows: the number of the warp's rows that exist. Each number in shared memory belongs to one
// thread, so the order of additions is always the same.
template <int down>
__device__ void add_moments(WarpMoments& moments, const WarpResults<down>& results, unsigned valid,
                            int rows, bool is_first) {
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane % 4 * 16;
  if (is_first) {
#pragma unroll
    for (int k = 0; k < 16; ++k)
      if (lane < 4) moments.reference[own + k] = results[0][k / 2][k % 2];
    for (int column = lane; column < 64; column += 32)
      moments.sums[column] = moments.squares[column] = 0;
    if (lane == 0) moments.rows = 0;
    __syncwarp();
  }
  float sums[16] = {}, squares[16] = {};
  const auto add = [&](auto is_whole) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float reference = moments.reference[own + k];
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float apart = results[i][k / 2][half * 2 + k % 2] - reference;
          if (!decltype(is_whole)::value && (valid >> (2 * i + half) & 1) == 0) apart = 0;
          sums[k] += apart;
          squares[k] += apart * apart;
        }
    }
  };
  if (valid == (1U << 2 * down) - 1)
    add(std::true_type());
  else
    add(std::false_type());
    // Sums over the eight threads with the same columns. At each step a thread passes half of its
    // values on.
#pragma unroll
  for (int width = 8, apart = 16; apart >= 4; width /= 2, apart /= 2) {
    const bool upper = (lane & apart) != 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (k >= width) break;
      for (float* values : {sums, squares}) {
        const float kept = upper ? values[k + width] : values[k];
        const float passed = upper ? values[k] : values[k + width];
        values[k] = kept + __shfl_xor_sync(0xffffffffU, passed, apart);
      }
    }
  }
  const int column = own + (lane & 16) / 2 + (lane & 8) / 2 + (lane & 4) / 2;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    moments.sums[column + k] += sums[k];
    moments.squares[column + k] += squares[k];
  }
  if (lane == 0) moments.rows += rows;
}

// Combines a column's moments of several warps into a chunk of ChannelMoments. A warp may have had
// no tile. apart: the distance from one warp's moments to the next.
__device__ inline void finish_block_moments(const WarpMoments* moments, int warps, int apart,
                                            int column, float* mean, float* squares) {
  MomentSums all{.reference = 0};
  float count = 0;
  for (int warp = 0; warp < warps; ++warp) {
    const WarpMoments& one = moments[warp * apart];
    if (one.rows == 0) continue;
    const auto rows = static_cast<float>(one.rows);
    const float sum = one.sums[column];
    const float own = one.reference[column] + sum / rows;
    if (count == 0) all.reference = own;
    all.take(own, one.squares[column] - sum * sum / rows, rows);
    count += rows;
  }
  *mean = count == 0 ? 0.0F : all.mean(count);
  *squares = count == 0 ? 0.0F : all.deviations(count);
}
#endif

}  // namespace lockstep
