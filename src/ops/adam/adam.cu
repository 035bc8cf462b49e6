// Adam and AdamW in one pass over weights, both moments and the low-precision copy. A block handles
// a chunk of a range of weights, so one launch handles all ranges.
#include "ops/adam/adam.cuh"
#include "ops/adam/adam_launch.h"
#include "ops/shared/device/dirty.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256;

__device__ AdamFactors factors_of(const AdamArguments& launch, const AdamRange& range) {
  const double step = *launch.step, lr = *range.lr;
  const double correction1 = 1 - pow(launch.beta1, step), correction2 = 1 - pow(launch.beta2, step);
  return {.one_over_divisor = 1.0F / *launch.divisor,
          .lr = static_cast<float>(lr),
          .one_over_correction2 = static_cast<float>(1 / sqrt(correction2)),
          .step_size = static_cast<float>(lr / correction1),
          .decay = static_cast<float>(range.decay)};
}

__device__ void store_four(const float (&from)[4], float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

__global__ void factors_kernel(AdamArguments launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < launch.range_count)
    reinterpret_cast<AdamFactors*>(launch.factors)[i] = factors_of(launch, launch.ranges[i]);
}

template <class T>
__device__ void store_weights(const float (&weight)[4], const AdamRange& range, std::int64_t i) {
  store_four(weight, range.weights + i);
  if (range.working == nullptr) return;
  Four<T> copy;
#pragma unroll
  for (int k = 0; k < 4; ++k) copy.value[k] = from_float<T>(weight[k]);
  *reinterpret_cast<Four<T>*>(static_cast<T*>(range.working) + i) = copy;
}

// Updates four elements that never had a gradient. Only decay changes them.
template <class T>
__device__ void update_clean(const AdamRange& range, const AdamFactors& factors, std::int64_t i) {
  if (factors.decay == 0) return;
  float weight[4];
  load_four(range.weights + i, weight);
#pragma unroll
  for (int k = 0; k < 4; ++k) decay_weight(weight[k], factors);
  store_weights<T>(weight, range, i);
}

template <class T>
__global__ void __launch_bounds__(threads) adam_kernel(AdamArguments launch) {
  if (*launch.skip != 0) return;
  const AdamChunk chunk = launch.chunks[blockIdx.x];
  const AdamRange range = launch.ranges[chunk.range];
  const AdamFactors factors = adam_factors_of(launch, chunk.range);
  const std::int64_t left = range.elements - chunk.begin;
  const std::int64_t end = chunk.begin + (left < launch.chunk ? left : launch.chunk);
  // If decay is added to a zero gradient, the moments change too, so clean elements cannot be
  // skipped.
  const bool may_pass_over = launch.decoupled || factors.decay == 0;
  for (std::int64_t i = chunk.begin + threadIdx.x * 4; i < end; i += threads * 4) {
    if (may_pass_over && !is_dirty(launch.dirty, range.begin + i)) {
      update_clean<T>(range, factors, i);
      continue;
    }
    const AdamFour four = updated_four(launch, range, factors, i);
    store_weights<T>(four.weight, range, i);
    store_four(four.first, range.first + i);
    store_four(four.second, range.second + i);
  }
}

}  // namespace

cudaError_t launch_adam_factors(const AdamArguments& arguments, cudaStream_t stream) {
  if (arguments.range_count == 0) return cudaSuccess;
  constexpr int together = 32;
  const auto blocks = static_cast<unsigned>((arguments.range_count + together - 1) / together);
  factors_kernel<<<blocks, together, 0, stream>>>(arguments);
  return cudaGetLastError();
}

cudaError_t launch_adam(const AdamArguments& arguments, cudaStream_t stream) {
  if (arguments.chunk_count == 0) return cudaSuccess;
  if (arguments.chunk_count > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_type(arguments.working_dtype, [&](auto element) {
    adam_kernel<decltype(element)>
        <<<static_cast<unsigned>(arguments.chunk_count), threads, 0, stream>>>(arguments);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
