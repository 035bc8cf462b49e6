// Cross-entropy and its gradient: a block takes a row, reads it once from memory and once more, by
// then from the cache, and writes the gradient over it.
#include "cuda/cross_entropy_launch.h"
#include "cuda/element.cuh"

namespace lockstep {
namespace {

// The largest value so far and the sum of exp(value - largest).
struct Softmax {
  float largest = -INFINITY, sum = 0;

  __device__ void take(float value) {
    if (value > largest) {
      sum *= __expf(largest - value);
      largest = value;
    }
    sum += __expf(value - largest);
  }
  __device__ void merge(float other_largest, float other_sum) {
    const float top = fmaxf(largest, other_largest);
    if (top == -INFINITY) return;
    sum = sum * __expf(largest - top) + other_sum * __expf(other_largest - top);
    largest = top;
  }
};

__device__ void merge_warp(Softmax& own) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const float largest = __shfl_xor_sync(0xffffffffU, own.largest, lanes);
    const float sum = __shfl_xor_sync(0xffffffffU, own.sum, lanes);
    own.merge(largest, sum);
  }
}

// Every thread gets the result.
template <int threads>
__device__ void merge_block(Softmax& own) {
  merge_warp(own);
  if constexpr (threads > 32) {
    __shared__ float largest[32], sum[32];
    constexpr int warps = threads / 32;
    if (threadIdx.x % 32 == 0) {
      largest[threadIdx.x / 32] = own.largest;
      sum[threadIdx.x / 32] = own.sum;
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    own.largest = lane < warps ? largest[lane] : -INFINITY;
    own.sum = lane < warps ? sum[lane] : 0;
    merge_warp(own);
  }
}

// `vector`: rows are multiples of eight and aligned.
template <class T, int threads, bool vector>
__global__ void __launch_bounds__(threads) cross_entropy_kernel(CrossEntropyArguments launch) {
  const std::int64_t classes = launch.classes;
  T* const row = static_cast<T*>(launch.logits) + blockIdx.x * classes;
  const std::int64_t target = launch.targets[blockIdx.x];
  const bool counts = target >= 0;
  Softmax own;
  float values[8];
  if constexpr (vector) {
    for (std::int64_t i = threadIdx.x * 8; i < classes; i += threads * 8) {
      load_eight(row + i, values);
      float top = values[0];
#pragma unroll
      for (int k = 1; k < 8; ++k) top = fmaxf(top, values[k]);
      if (top > own.largest) {
        own.sum *= __expf(own.largest - top);
        own.largest = top;
      }
#pragma unroll
      for (int k = 0; k < 8; ++k) own.sum += __expf(values[k] - own.largest);
    }
  } else {
    for (std::int64_t i = threadIdx.x; i < classes; i += threads) own.take(to_float(row[i]));
  }
  const float at_target = counts ? to_float(row[target]) : 0;
  merge_block<threads>(own);
  if (threadIdx.x == 0)
    launch.losses[blockIdx.x] = counts ? __logf(own.sum) + own.largest - at_target : 0;
  if constexpr (threads > 32)
    __syncthreads();  // all have read the target's logit
  else
    __syncwarp();

  const float scale = counts ? *launch.scale : 0;
  const float factor = scale / own.sum;
  if constexpr (vector) {
    for (std::int64_t i = threadIdx.x * 8; i < classes; i += threads * 8) {
      load_eight(row + i, values);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        values[k] = counts ? __expf(values[k] - own.largest) * factor : 0;
        if (i + k == target) values[k] -= scale;
      }
      store_eight(values, row + i);
    }
  } else {
    for (std::int64_t i = threadIdx.x; i < classes; i += threads) {
      float value = counts ? __expf(to_float(row[i]) - own.largest) * factor : 0;
      if (i == target) value -= scale;
      row[i] = from_float<T>(value);
    }
  }
}

template <class T, bool vector>
cudaError_t launch_sized(const CrossEntropyArguments& launch, cudaStream_t stream) {
  const auto rows = static_cast<unsigned>(launch.rows);
  if (launch.classes <= 1024)
    cross_entropy_kernel<T, 32, vector><<<rows, 32, 0, stream>>>(launch);
  else if (launch.classes <= 8192)
    cross_entropy_kernel<T, 256, vector><<<rows, 256, 0, stream>>>(launch);
  else
    cross_entropy_kernel<T, 1024, vector><<<rows, 1024, 0, stream>>>(launch);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_typed(const CrossEntropyArguments& launch, cudaStream_t stream) {
  const bool vector =
      launch.classes % 8 == 0 && reinterpret_cast<std::uintptr_t>(launch.logits) % 16 == 0;
  return vector ? launch_sized<T, true>(launch, stream) : launch_sized<T, false>(launch, stream);
}

}  // namespace

cudaError_t launch_cross_entropy(const CrossEntropyArguments& launch, cudaStream_t stream) {
  if (launch.rows == 0 || launch.classes == 0) return cudaSuccess;
  return with_type(launch.dtype,
                   [&](auto element) { return launch_typed<decltype(element)>(launch, stream); });
}

}  // namespace lockstep
