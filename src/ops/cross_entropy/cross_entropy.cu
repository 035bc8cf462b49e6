// Cross-entropy and its gradient. A block handles a row and reads it twice, the second time from
// shared memory or from the cache. It overwrites the row with the gradient.
#include "ops/cross_entropy/cross_entropy_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/element.cuh"

#include <cuda_pipeline.h>

namespace lockstep {
namespace {

// Like __expf, but without its extra steps for denormal results.
__device__ inline float exp_fast(float x) {
  constexpr float log2_of_e = 1.44269504F;
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * log2_of_e));
  return result;
}

// The largest value so far and the sum of exp(value - largest). While all values are -inf,
// `largest` is -inf too and the sum stays 0. base() then is 0, because -inf - -inf would be NaN. A
// value that is NaN makes the sum NaN.
struct Softmax {
  float largest = -INFINITY, sum = 0;

  // The value subtracted before exp.
  __device__ float base() const { return largest == -INFINITY ? 0 : largest; }
  __device__ void raise(float top) {
    if (top > largest) {
      sum *= exp_fast(largest - top);
      largest = top;
    }
  }
  __device__ void take(float value) {
    raise(value);
    sum += exp_fast(value - base());
  }
  __device__ void merge(float other_largest, float other_sum) {
    const float top = fmaxf(largest, other_largest);
    if (top == -INFINITY)
      sum += other_sum;
    else
      sum = sum * exp_fast(largest - top) + other_sum * exp_fast(other_largest - top);
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

// Merges the values of all threads. Every thread gets the result.
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

// Adds eight logits at once, so that the sum is rescaled at most once.
__device__ inline void take_eight(Softmax& own, const float (&values)[8]) {
  float top = values[0];
#pragma unroll
  for (int k = 1; k < 8; ++k) top = fmaxf(top, values[k]);
  own.raise(top);
  const float base = own.base();
#pragma unroll
  for (int k = 0; k < 8; ++k) own.sum += exp_fast(values[k] - base);
}

// The row's target. It is negative if the row is ignored.
__device__ inline std::int64_t target_of(const CrossEntropyArguments& launch) {
  const std::int64_t target = launch.targets[blockIdx.x];
  LOCKSTEP_DEVICE_ASSERT(target < launch.classes &&
                         "targets of the loss are below the number of classes");
  return target;
}

// The values that determine a row's gradient. They are known when the whole row has been read.
struct Gradient {
  float largest, factor, scale;
  bool counts;

  __device__ float of(float logit) const { return exp_fast(logit - largest) * factor; }
};

// Merges the threads' values and writes the row's loss. Returns when all threads have read
// `at_target`.
template <int threads>
__device__ Gradient finish_row(const CrossEntropyArguments& launch, Softmax own, bool counts,
                               float at_target) {
  merge_block<threads>(own);
  if (threadIdx.x == 0)
    launch.losses[blockIdx.x] = counts ? __logf(own.sum) + own.largest - at_target : 0;
  if constexpr (threads > 32)
    __syncthreads();
  else
    __syncwarp();
  const float scale = counts ? *launch.scale : 0;
  return {own.largest, scale / own.sum, scale, counts};
}

// Writes the gradient at the target over the value that the loop over all columns wrote there.
template <class T, int threads>
__device__ void write_target(T* row, std::int64_t target, const Gradient& gradient,
                             float at_target) {
  if constexpr (threads > 32)
    __syncthreads();
  else
    __syncwarp();
  if (threadIdx.x == 0 && gradient.counts)
    row[target] = from_float<T>(gradient.of(at_target) - gradient.scale);
}

// For rows that are aligned and a multiple of eight long. vector_at(i) returns the row's vector of
// eight from column i.
template <class T, int threads, class Vectors>
__device__ void write_gradient(T* row, std::int64_t classes, const Gradient& gradient,
                               const Vectors& vector_at) {
  for (std::int64_t i = threadIdx.x * 8; i < classes; i += threads * 8) {
    float values[8] = {};
    if (gradient.counts) {
      vector_at(i, values);
#pragma unroll
      for (int k = 0; k < 8; ++k) values[k] = gradient.of(values[k]);
    }
    store_eight(values, row + i);
  }
}

// `vector`: whether rows are aligned and a multiple of eight long.
template <class T, int threads, bool vector>
__global__ void __launch_bounds__(threads) cross_entropy_kernel(CrossEntropyArguments launch) {
  const std::int64_t classes = launch.classes;
  T* const row = static_cast<T*>(launch.logits) + blockIdx.x * classes;
  const std::int64_t target = target_of(launch);
  const bool counts = target >= 0;
  Softmax own;
  if constexpr (vector) {
    for (std::int64_t i = threadIdx.x * 8; i < classes; i += threads * 8) {
      float values[8];
      load_eight(row + i, values);
      take_eight(own, values);
    }
  } else {
    for (std::int64_t i = threadIdx.x; i < classes; i += threads) own.take(to_float(row[i]));
  }
  const float at_target = counts ? to_float(row[target]) : 0;
  const Gradient gradient = finish_row<threads>(launch, own, counts, at_target);
  if constexpr (vector) {
    write_gradient<T, threads>(row, classes, gradient,
                               [&](std::int64_t i, float(&out)[8]) { load_eight(row + i, out); });
  } else {
    for (std::int64_t i = threadIdx.x; i < classes; i += threads)
      row[i] = from_float<T>(counts ? gradient.of(to_float(row[i])) : 0);
  }
  write_target<T, threads>(row, target, gradient, at_target);
}

// The same for rows so short that two fit into a multiprocessor's shared memory. A row is requested
// at once and read from global memory only once. While one block computes, the other one loads. A
// thread reads only its own copies, so it waits for no other thread.
constexpr int shared_threads = 512, group_vectors = 4;

template <class T>
__global__ void __launch_bounds__(shared_threads, 2) shared_kernel(CrossEntropyArguments launch) {
  extern __shared__ uint4 shared[];  // [classes / 8] of T
  static_assert(sizeof(Eight<T>) == sizeof(uint4));
  constexpr int stride = group_vectors * shared_threads;
  const std::int64_t classes = launch.classes;
  T* const row = static_cast<T*>(launch.logits) + blockIdx.x * classes;
  const auto* const from = reinterpret_cast<const uint4*>(row);
  const std::int64_t target = target_of(launch);
  const bool counts = target >= 0;
  const int vectors = static_cast<int>(classes / 8), groups = (vectors + stride - 1) / stride;
  for (int group = 0; group < groups; ++group) {
#pragma unroll
    for (int j = 0; j < group_vectors; ++j) {
      const int at = group * stride + j * shared_threads + threadIdx.x;
      if (at < vectors) __pipeline_memcpy_async(shared + at, from + at, sizeof(uint4));
    }
    __pipeline_commit();
  }
  const float at_target = counts ? to_float(row[target]) : 0;
  const T* const kept = reinterpret_cast<const T*>(shared);
  Softmax own;
  for (int group = 0; group < groups; ++group) {
    __pipeline_wait_prior(groups - 1 - group);
#pragma unroll
    for (int j = 0; j < group_vectors; ++j) {
      const int at = group * stride + j * shared_threads + threadIdx.x;
      if (at >= vectors) continue;
      float values[8];
      load_eight(kept + 8 * at, values);
      take_eight(own, values);
    }
  }
  const Gradient gradient = finish_row<shared_threads>(launch, own, counts, at_target);
  write_gradient<T, shared_threads>(
      row, classes, gradient, [&](std::int64_t i, float(&out)[8]) { load_eight(kept + i, out); });
  write_target<T, shared_threads>(row, target, gradient, at_target);
}

// Whether two blocks with `bytes` of shared memory each fit on a multiprocessor.
bool two_fit(std::size_t bytes) {
  constexpr std::size_t reserved = 2048;  // shared memory that a block takes in addition
  int device = 0, most = 0, all = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  return bytes <= static_cast<std::size_t>(most) &&
         2 * (bytes + reserved) <= static_cast<std::size_t>(all);
}

template <class T>
cudaError_t launch_shared(const CrossEntropyArguments& launch, std::size_t bytes,
                          cudaStream_t stream) {
  const cudaError_t error = cudaFuncSetAttribute(
      shared_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) return error;
  shared_kernel<T><<<static_cast<unsigned>(launch.rows), shared_threads, bytes, stream>>>(launch);
  return cudaGetLastError();
}

template <class T, bool vector>
cudaError_t launch_sized(const CrossEntropyArguments& launch, cudaStream_t stream) {
  const auto rows = static_cast<unsigned>(launch.rows);
  if constexpr (vector && sizeof(T) == 2) {
    const std::size_t bytes = static_cast<std::size_t>(launch.classes) * sizeof(T);
    if (launch.classes > 8192 && two_fit(bytes)) return launch_shared<T>(launch, bytes, stream);
  }
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
