// Sums the columns of a matrix. A block sums 32 columns over some of the rows. Neighbouring threads
// read neighbouring elements. If several blocks share a column, their sums are added in order.
#include "ops/column_sums/column_sums_launch.h"
#include "ops/shared/device/element.cuh"

namespace lockstep {
namespace {

constexpr int threads = 512, columns_per_block = 32, per_thread = 8;
constexpr int groups = columns_per_block / per_thread;  // groups of columns
constexpr int lanes = threads / groups;                 // threads with the same columns
constexpr int warps = threads / 32;

template <class T>
__global__ void __launch_bounds__(threads) column_sums_kernel(ColumnSums sums) {
  constexpr int unroll = 4;
  __shared__ float shared[warps][columns_per_block];
  const int group = static_cast<int>(threadIdx.x) % groups;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * columns_per_block;
  const std::int64_t column = first + group * per_thread;
  const std::int64_t share = (sums.rows + sums.shares - 1) / sums.shares;
  const std::int64_t begin = blockIdx.y * share;
  const std::int64_t end = begin + share < sums.rows ? begin + share : sums.rows;
  float mine[per_thread] = {};
  if (column < sums.columns) {
    const T* const from = static_cast<const T*>(sums.matrix) + column;
    std::int64_t row = begin + threadIdx.x / groups;
    for (; row + (unroll - 1) * lanes < end; row += unroll * lanes) {
      float values[unroll][per_thread];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        load_eight(from + (row + u * lanes) * sums.columns, values[u]);
#pragma unroll
      for (int u = 0; u < unroll; ++u)
#pragma unroll
        for (int i = 0; i < per_thread; ++i) mine[i] += values[u][i];
    }
    for (; row < end; row += lanes) {
      float values[per_thread];
      load_eight(from + row * sums.columns, values);
#pragma unroll
      for (int i = 0; i < per_thread; ++i) mine[i] += values[i];
    }
  }
  // The threads of a warp with the same columns have indices that are `groups` apart.
#pragma unroll
  for (int apart = groups; apart < 32; apart *= 2)
#pragma unroll
    for (int i = 0; i < per_thread; ++i) mine[i] += __shfl_xor_sync(0xffffffffU, mine[i], apart);
  if (threadIdx.x % 32 < groups)
#pragma unroll
    for (int i = 0; i < per_thread; ++i) shared[threadIdx.x / 32][group * per_thread + i] = mine[i];
  __syncthreads();
  if (threadIdx.x >= columns_per_block || first + threadIdx.x >= sums.columns) return;
  float sum = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) sum += shared[w][threadIdx.x];
  const std::int64_t at = first + threadIdx.x;
  if (sums.shares == 1)
    sums.into[at] += sum;
  else
    sums.partial[blockIdx.y * sums.columns + at] = sum;
}

__global__ void add_shares_kernel(ColumnSums sums) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= sums.columns) return;
  float sum = 0;
#pragma unroll 8
  for (std::int64_t share = 0; share < sums.shares; ++share)
    sum += sums.partial[share * sums.columns + column];
  sums.into[column] += sum;
}

}  // namespace

cudaError_t launch_column_sums(const ColumnSums& sums, cudaStream_t stream) {
  const dim3 blocks(
      static_cast<unsigned>((sums.columns + columns_per_block - 1) / columns_per_block),
      static_cast<unsigned>(sums.shares));
  return with_type(sums.dtype, [&](auto element) {
    column_sums_kernel<decltype(element)><<<blocks, threads, 0, stream>>>(sums);
    if (sums.shares > 1)
      add_shares_kernel<<<static_cast<unsigned>((sums.columns + 127) / 128), 128, 0, stream>>>(
          sums);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
