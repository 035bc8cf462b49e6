// Token embedding plus positions. A thread handles eight columns.
#include "ops/adam/adam.cuh"
#include "ops/embedding/embedding_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/dirty.cuh"
#include "ops/shared/device/element.cuh"

namespace lockstep {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads) forward_kernel(EmbeddingForward launch) {
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t row = index / in_row, column = index % in_row * 8;
  if (row >= launch.rows) return;
  float values[8], position[8];
  const std::int64_t token = launch.tokens[row];
  LOCKSTEP_DEVICE_ASSERT(token >= 0 && token < launch.vocab &&
                         "tokens are at least 0 and below vocab");
  load_eight(static_cast<const T*>(launch.weight) + token * launch.width + column, values);
  load_eight(static_cast<const T*>(launch.positions) + row % launch.length * launch.width + column,
             position);
#pragma unroll
  for (int k = 0; k < 8; ++k) values[k] += position[k];
  store_eight(values, static_cast<T*>(launch.out) + row * launch.width + column);
}

template <class T>
__device__ void load_row(const EmbeddingSum& launch, const SummedTable& table, std::int64_t at,
                         const T* weights, float (&values)[8]) {
  if (table.deferred_range < 0 || *launch.deferred.skip != 0)
    return load_eight(weights + at, values);
  const AdamRange& range = launch.deferred.ranges[table.deferred_range];
  const AdamFactors factors = adam_factors_of(launch.deferred, table.deferred_range);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const AdamFour four = updated_four(launch.deferred, range, factors, at + 4 * half);
#pragma unroll
    for (int k = 0; k < 4; ++k) values[4 * half + k] = to_float(from_float<T>(four.weight[k]));
  }
}

template <class T>
__global__ void __launch_bounds__(threads) sum_kernel(EmbeddingSum launch) {
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t row = index / in_row, column = index % in_row * 8;
  if (row >= launch.rows) return;
  float sum[8] = {};
#pragma unroll
  for (int i = 0; i < most_summed_tables; ++i) {
    if (i >= launch.count) break;
    const SummedTable& table = launch.tables[i];
    const std::int64_t from = table.indices[row];
    LOCKSTEP_DEVICE_ASSERT(from >= 0 && from < table.size && "rows of a table are in it");
    float values[8];
    load_row(launch, table, from * launch.width + column, static_cast<const T*>(table.table),
             values);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum[k] += values[k];
  }
  store_eight(sum, static_cast<T*>(launch.out) + row * launch.width + column);
}

__device__ void add_four(float* to, float a, float b, float c, float d) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to), make_float4(a, b, c, d));
#else
  atomicAdd(to, a);
  atomicAdd(to + 1, b);
  atomicAdd(to + 2, c);
  atomicAdd(to + 3, d);
#endif
}

// The forward pass has checked the tokens.
template <class T>
__global__ void __launch_bounds__(threads) tokens_kernel(EmbeddingBackward launch) {
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t row = index / in_row, column = index % in_row * 8;
  if (row >= launch.rows) return;
  float up[8];
  load_eight(static_cast<const T*>(launch.gradient) + row * launch.width + column, up);
  const std::int64_t at = launch.tokens[row] * launch.width + column;
  float* const to = launch.of_weight + at;
  mark_dirty(launch.dirty, launch.dirty_begin + at);
  add_four(to, up[0], up[1], up[2], up[3]);
  add_four(to + 4, up[4], up[5], up[6], up[7]);
}

// The token of the row at a place of the order by token.
__device__ std::int64_t token_at(const EmbeddingBackward& launch, std::int64_t place) {
  return launch.tokens[launch.by_token[place]];
}

__device__ void add_eight(const float (&sum)[8], float* to) {
#pragma unroll
  for (int k = 0; k < 8; ++k) to[k] += sum[k];
}

// A thread sums the rows of its piece, token by token. The sum of a token is complete if all its
// rows are in this piece. If not, the sum is partial. It is stored as the piece's partial sum 0 if
// the token began in an earlier piece, else as partial sum 1.
template <class T>
__global__ void __launch_bounds__(threads) pieces_kernel(EmbeddingBackward launch) {
  constexpr int batch = 8;  // rows whose loads are in flight together
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t piece = index / in_row, column = index % in_row * 8;
  const std::int64_t first = piece * launch.piece;
  if (first >= launch.rows) return;
  const std::int64_t last = min(first + launch.piece, launch.rows);
  std::int64_t token = token_at(launch, first);
  bool began_before = first > 0 && token_at(launch, first - 1) == token;
  float sum[8] = {};
  for (std::int64_t begin = first; begin < last; begin += batch) {
    float up[batch][8];
    std::int64_t next[batch];  // the token of the row after each row; -1 = none
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (begin + i < last)
        load_eight(static_cast<const T*>(launch.gradient) +
                       launch.by_token[begin + i] * launch.width + column,
                   up[i]);
      next[i] = begin + i + 1 < launch.rows ? token_at(launch, begin + i + 1) : -1;
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (begin + i >= last) break;
#pragma unroll
      for (int k = 0; k < 8; ++k) sum[k] += up[i][k];
      const bool goes_on = next[i] == token;
      if (goes_on && begin + i + 1 < last) continue;
      mark_dirty(launch.dirty, launch.dirty_begin + token * launch.width + column);
      if (began_before || goes_on)
        store_eight(sum,
                    launch.partial + (2 * piece + (began_before ? 0 : 1)) * launch.width + column);
      else
        add_eight(sum, launch.of_weight + token * launch.width + column);
#pragma unroll
      for (int k = 0; k < 8; ++k) sum[k] = 0;
      token = next[i];
      began_before = false;
    }
  }
}

// For a token that begins in a thread's piece and continues in the next one, the thread adds up its
// partial sums.
__global__ void __launch_bounds__(threads) joints_kernel(EmbeddingBackward launch) {
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t piece = index / in_row, column = index % in_row * 8;
  const std::int64_t first = piece * launch.piece, behind = first + launch.piece;
  if (behind >= launch.rows) return;
  const std::int64_t token = token_at(launch, behind);
  if (token_at(launch, behind - 1) != token) return;
  if (first > 0 && token_at(launch, first - 1) == token) return;
  // The last piece that begins with this token.
  std::int64_t last = piece + 1, other = (launch.rows - 1) / launch.piece + 1;
  while (other - last > 1) {
    const std::int64_t middle = (last + other) / 2;
    (token_at(launch, middle * launch.piece) == token ? last : other) = middle;
  }
  float sum[8];
  load_eight(launch.partial + (2 * piece + 1) * launch.width + column, sum);
#pragma unroll 8
  for (std::int64_t part = piece + 1; part <= last; ++part) {
    float more[8];
    load_eight(launch.partial + 2 * part * launch.width + column, more);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum[k] += more[k];
  }
  add_eight(sum, launch.of_weight + token * launch.width + column);
}

// A thread adds up all rows of its position.
template <class T>
__global__ void __launch_bounds__(threads) positions_kernel(EmbeddingBackward launch) {
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t position = index / in_row, column = index % in_row * 8;
  if (position >= launch.length) return;
  float sum[8] = {};
  for (std::int64_t row = position; row < launch.rows; row += launch.length) {
    float up[8];
    load_eight(static_cast<const T*>(launch.gradient) + row * launch.width + column, up);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum[k] += up[k];
  }
  add_eight(sum, launch.of_positions + position * launch.width + column);
}

unsigned blocks_for(std::int64_t rows, std::int64_t width) {
  return static_cast<unsigned>((rows * (width / 8) + threads - 1) / threads);
}

template <class T>
cudaError_t launch_backward(const EmbeddingBackward& launch, cudaStream_t stream) {
  if (launch.by_token == nullptr) {
    tokens_kernel<T><<<blocks_for(launch.rows, launch.width), threads, 0, stream>>>(launch);
  } else {
    const std::int64_t pieces = (launch.rows + launch.piece - 1) / launch.piece;
    const unsigned blocks = blocks_for(pieces, launch.width);
    pieces_kernel<T><<<blocks, threads, 0, stream>>>(launch);
    joints_kernel<<<blocks, threads, 0, stream>>>(launch);
  }
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  if (launch.of_positions == nullptr) return cudaSuccess;
  positions_kernel<T><<<blocks_for(launch.length, launch.width), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_forward(const EmbeddingForward& launch, cudaStream_t stream) {
  forward_kernel<T><<<blocks_for(launch.rows, launch.width), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_sum(const EmbeddingSum& launch, cudaStream_t stream) {
  sum_kernel<T><<<blocks_for(launch.rows, launch.width), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_embedding_forward(const EmbeddingForward& arguments, cudaStream_t stream) {
  return with_type(arguments.dtype, [&](auto element) {
    return launch_forward<decltype(element)>(arguments, stream);
  });
}

cudaError_t launch_embedding_backward(const EmbeddingBackward& arguments, cudaStream_t stream) {
  return with_type(arguments.dtype, [&](auto element) {
    return launch_backward<decltype(element)>(arguments, stream);
  });
}

cudaError_t launch_embedding_sum(const EmbeddingSum& arguments, cudaStream_t stream) {
  return with_type(arguments.dtype,
                   [&](auto element) { return launch_sum<decltype(element)>(arguments, stream); });
}

}  // namespace lockstep
