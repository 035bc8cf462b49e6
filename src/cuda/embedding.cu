// Token embedding plus positions: a thread takes eight columns.
#include "cuda/element.cuh"
#include "cuda/embedding_launch.h"

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
  load_eight(static_cast<const T*>(launch.weight) + launch.tokens[row] * launch.width + column,
             values);
  load_eight(static_cast<const T*>(launch.positions) + row % launch.length * launch.width + column,
             position);
#pragma unroll
  for (int k = 0; k < 8; ++k) values[k] += position[k];
  store_eight(values, static_cast<T*>(launch.out) + row * launch.width + column);
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

template <class T>
__global__ void __launch_bounds__(threads) tokens_kernel(EmbeddingBackward launch) {
  const std::int64_t in_row = launch.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t row = index / in_row, column = index % in_row * 8;
  if (row >= launch.rows) return;
  float up[8];
  load_eight(static_cast<const T*>(launch.gradient) + row * launch.width + column, up);
  float* const to = launch.of_weight + launch.tokens[row] * launch.width + column;
  add_four(to, up[0], up[1], up[2], up[3]);
  add_four(to + 4, up[4], up[5], up[6], up[7]);
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
  float* const to = launch.of_positions + position * launch.width + column;
#pragma unroll
  for (int k = 0; k < 8; ++k) to[k] += sum[k];
}

unsigned blocks_for(std::int64_t rows, std::int64_t width) {
  return static_cast<unsigned>((rows * (width / 8) + threads - 1) / threads);
}

template <class T>
cudaError_t launch_backward(const EmbeddingBackward& launch, cudaStream_t stream) {
  tokens_kernel<T><<<blocks_for(launch.rows, launch.width), threads, 0, stream>>>(launch);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  positions_kernel<T><<<blocks_for(launch.length, launch.width), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_forward(const EmbeddingForward& launch, cudaStream_t stream) {
  forward_kernel<T><<<blocks_for(launch.rows, launch.width), threads, 0, stream>>>(launch);
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

}  // namespace lockstep
