// Conversions between float and the other element types, and vectors of four or eight elements.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

namespace lockstep {

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline float to_float(__half value) { return __half2float(value); }

// Rounds to nearest even, as the CPU does.
template <class T>
__device__ T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}

// A vector that is loaded and stored as one word.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T value[4];
};

// A vector that is loaded and stored as 16-byte words.
template <class T>
struct alignas(16) Eight {
  T value[8];
};

template <class T>
__device__ void load_eight(const T* from, float (&to)[8]) {
  const Eight<T> values = *reinterpret_cast<const Eight<T>*>(from);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] = to_float(values.value[i]);
}

template <class T>
__device__ void store_eight(const float (&from)[8], T* to) {
  Eight<T> values;
#pragma unroll
  for (int i = 0; i < 8; ++i) values.value[i] = from_float<T>(from[i]);
  *reinterpret_cast<Eight<T>*>(to) = values;
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffU, value, lanes);
  return value;
}

// Returns the sum over a block of `warps` whole warps to all its threads. The order of additions is
// fixed. A kernel may call it only once, because a second call would write memory that other warps
// still read.
template <int warps>
__device__ float block_sum(float value) {
  __shared__ float of_warps[warps];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int warp = 0; warp < warps; ++warp) sum += of_warps[warp];
  return sum;
}

// Calls `function` with an element of that type, to use in decltype.
template <class Function>
cudaError_t with_type(KernelDtype dtype, const Function& function) {
  switch (dtype) {
    case KernelDtype::f32:
      return function(float());
    case KernelDtype::bf16:
      return function(__nv_bfloat16());
    case KernelDtype::f16:
      return function(__half());
  }
  return cudaErrorInvalidValue;
}

}  // namespace lockstep
