// Adam and AdamW in one pass: weights, both moments and the low-precision copy.
#include "cuda/adam_launch.h"
#include "cuda/element.cuh"

namespace lockstep {
namespace {

constexpr int threads = 256;

// What all elements of an update share.
struct Factors {
  float one_over_divisor, lr, one_over_correction2, step_size;
};

__device__ Factors factors_of(const AdamArguments& launch) {
  const double step = *launch.step, lr = *launch.lr;
  const double correction1 = 1 - pow(launch.beta1, step), correction2 = 1 - pow(launch.beta2, step);
  return {.one_over_divisor = 1.0F / *launch.divisor,
          .lr = static_cast<float>(lr),
          .one_over_correction2 = static_cast<float>(1 / sqrt(correction2)),
          .step_size = static_cast<float>(lr / correction1)};
}

__device__ void update(float& weight, float gradient, float& first, float& second,
                       const AdamArguments& launch, const Factors& factors) {
  gradient *= factors.one_over_divisor;
  const auto decay = static_cast<float>(launch.decay);
  const auto beta1 = static_cast<float>(launch.beta1), beta2 = static_cast<float>(launch.beta2);
  if (launch.decoupled)
    weight -= factors.lr * decay * weight;
  else
    gradient += decay * weight;
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

// elements is a multiple of four and everything is aligned to four elements, as the arena is.
template <class T>
__global__ void __launch_bounds__(threads) adam_kernel(AdamArguments launch) {
  if (*launch.skip != 0) return;
  __shared__ Factors shared;
  if (threadIdx.x == 0) shared = factors_of(launch);
  __syncthreads();
  const Factors factors = shared;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads * 4;
  for (std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) * 4;
       i < launch.elements; i += stride) {
    float weight[4], gradient[4], first[4], second[4];
    load_four(launch.weights + i, weight);
    load_four(launch.gradients + i, gradient);
    load_four(launch.first + i, first);
    load_four(launch.second + i, second);
    Four<T> copy;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      update(weight[k], gradient[k], first[k], second[k], launch, factors);
      copy.value[k] = from_float<T>(weight[k]);
    }
    store_four(weight, launch.weights + i);
    store_four(first, launch.first + i);
    store_four(second, launch.second + i);
    if (launch.working != nullptr)
      *reinterpret_cast<Four<T>*>(static_cast<T*>(launch.working) + i) = copy;
  }
}

template <class T>
cudaError_t launch_typed(const AdamArguments& launch, cudaStream_t stream) {
  constexpr std::int64_t most_blocks = 132 * 16;
  const std::int64_t blocks = (launch.elements / 4 + threads - 1) / threads;
  adam_kernel<T>
      <<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0, stream>>>(
          launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_adam(const AdamArguments& arguments, cudaStream_t stream) {
  if (arguments.elements == 0) return cudaSuccess;
  return with_type(arguments.working_dtype, [&](auto element) {
    return launch_typed<decltype(element)>(arguments, stream);
  });
}

}  // namespace lockstep
