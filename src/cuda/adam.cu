// Adam and AdamW in one pass: weights, both moments and the low-precision copy. A block has a chunk
// of a range of weights, so that one launch serves all ranges.
#include "cuda/adam_launch.h"
#include "cuda/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256;

// What all elements of an update share.
struct Factors {
  float one_over_divisor, lr, one_over_correction2, step_size, decay;
};
static_assert(sizeof(Factors) == adam_factors * sizeof(float));

__device__ Factors factors_of(const AdamArguments& launch, const AdamRange& range) {
  const double step = *launch.step, lr = *range.lr;
  const double correction1 = 1 - pow(launch.beta1, step), correction2 = 1 - pow(launch.beta2, step);
  return {.one_over_divisor = 1.0F / *launch.divisor,
          .lr = static_cast<float>(lr),
          .one_over_correction2 = static_cast<float>(1 / sqrt(correction2)),
          .step_size = static_cast<float>(lr / correction1),
          .decay = static_cast<float>(range.decay)};
}

__device__ void update(float& weight, float gradient, float& first, float& second,
                       const AdamArguments& launch, const Factors& factors) {
  gradient *= factors.one_over_divisor;
  const auto beta1 = static_cast<float>(launch.beta1), beta2 = static_cast<float>(launch.beta2);
  if (launch.decoupled)
    weight -= factors.lr * factors.decay * weight;
  else
    gradient += factors.decay * weight;
  first += (1.0F - beta1) * (gradient - first);
  second = beta2 * second + (1.0F - beta2) * gradient * gradient;
  weight -= factors.step_size * first /
            (sqrtf(second) * factors.one_over_correction2 + static_cast<float>(launch.eps));
}

__device__ void load_four(const float* from, float (&to)[4]) {
  const float4 values = *reinterpret_cast<const float4*>(from);
  to[0] = values.x, to[1] = values.y, to[2] = values.z, to[3] = values.w;
}

__device__ void store_four(const float (&from)[4], float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

template <class T>
struct alignas(4 * sizeof(T)) Four {
  T value[4];
};

__global__ void factors_kernel(AdamArguments launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < launch.range_count)
    reinterpret_cast<Factors*>(launch.factors)[i] = factors_of(launch, launch.ranges[i]);
}

template <class T>
__global__ void __launch_bounds__(threads) adam_kernel(AdamArguments launch) {
  if (*launch.skip != 0) return;
  const AdamChunk chunk = launch.chunks[blockIdx.x];
  const AdamRange range = launch.ranges[chunk.range];
  const Factors factors = reinterpret_cast<const Factors*>(launch.factors)[chunk.range];
  const std::int64_t left = range.elements - chunk.begin;
  const std::int64_t end = chunk.begin + (left < launch.chunk ? left : launch.chunk);
  for (std::int64_t i = chunk.begin + threadIdx.x * 4; i < end; i += threads * 4) {
    float weight[4], gradient[4], first[4], second[4];
    load_four(range.weights + i, weight);
    load_four(range.gradients + i, gradient);
    load_four(range.first + i, first);
    load_four(range.second + i, second);
    Four<T> copy;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      update(weight[k], gradient[k], first[k], second[k], launch, factors);
      copy.value[k] = from_float<T>(weight[k]);
    }
    store_four(weight, range.weights + i);
    store_four(first, range.first + i);
    store_four(second, range.second + i);
    if (range.working != nullptr)
      *reinterpret_cast<Four<T>*>(static_cast<T*>(range.working) + i) = copy;
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
