// Bias and GELU or ReLU. For low precision, faster versions of erf and tanh are used. Their errors
// are far below the precision of the type.
#include "ops/activation/activation_launch.h"
#include "ops/shared/device/element.cuh"

namespace lockstep {
namespace {

constexpr int threads = 256;
constexpr int vectors = 4;  // vectors of eight per thread; all are loaded before the first is used
constexpr float sqrt_half = 0.70710678118654752F;            // sqrt(1/2)
constexpr float inverse_sqrt_two_pi = 0.39894228040143268F;  // 1 / sqrt(2 pi)
constexpr float sqrt_two_over_pi = 0.79788456080286536F;
constexpr float cubic = 0.044715F;

// The standard normal distribution at x: cumulative probability and density.
struct Normal {
  float share, density;
};

// Abramowitz and Stegun 7.1.26: |error| <= 1.5e-7.
__device__ Normal fast_normal(float x) {
  const float z = fabsf(x) * sqrt_half;
  const float t = __fdividef(1.0F, 1.0F + 0.3275911F * z);
  const float bell = __expf(-z * z);
  const float poly =
      t * (0.254829592F +
           t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  const float tail = 0.5F * poly * bell;  // the probability above |x|
  return {x >= 0 ? 1.0F - tail : tail, bell * inverse_sqrt_two_pi};
}

__device__ Normal exact_normal(float x) {
  return {0.5F * erfcf(-x * sqrt_half), expf(-0.5F * x * x) * inverse_sqrt_two_pi};
}

template <class T>
__device__ float tanh_of(float x) {
  if constexpr (sizeof(T) == 4) return tanhf(x);
  return 1.0F - __fdividef(2.0F, 1.0F + __expf(2.0F * fminf(x, 40.0F)));
}

template <class T>
__device__ Normal normal(float x) {
  if constexpr (sizeof(T) == 4) return exact_normal(x);
  return fast_normal(x);
}

template <class T, Activation kind>
__device__ float value(float x) {
  if constexpr (kind == Activation::relu) return x <= 0 ? 0.0F : x;  // NaN is kept
  if constexpr (kind == Activation::gelu_tanh)
    return 0.5F * x * (1.0F + tanh_of<T>(sqrt_two_over_pi * (x + cubic * x * x * x)));
  return x * normal<T>(x).share;
}

template <class T, Activation kind>
__device__ float slope(float x) {
  if constexpr (kind == Activation::relu) return x <= 0 ? 0.0F : 1.0F;
  if constexpr (kind == Activation::gelu_tanh) {
    const float bend = tanh_of<T>(sqrt_two_over_pi * (x + cubic * x * x * x));
    const float inner = sqrt_two_over_pi * (1.0F + 3.0F * cubic * x * x);
    return 0.5F * (1.0F + bend) + 0.5F * x * (1.0F - bend * bend) * inner;
  }
  const Normal at = normal<T>(x);
  return at.share + x * at.density;
}

template <class T, Activation kind, bool backward>
__global__ void __launch_bounds__(threads) activation_kernel(ActivationArguments arguments) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * vectors * threads * 8;
  Eight<T> packed[vectors], packed_gradient[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const std::int64_t first = begin + (v * threads + threadIdx.x) * 8;
    if (first >= arguments.elements) continue;
    packed[v] = *reinterpret_cast<const Eight<T>*>(static_cast<const T*>(arguments.x) + first);
    if constexpr (backward)
      packed_gradient[v] =
          *reinterpret_cast<const Eight<T>*>(static_cast<const T*>(arguments.gradient) + first);
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const std::int64_t first = begin + (v * threads + threadIdx.x) * 8;
    if (first >= arguments.elements) continue;
    float x[8], bias[8] = {};
    if (arguments.bias != nullptr)
      load_eight(static_cast<const T*>(arguments.bias) + first % arguments.columns, bias);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      x[k] = to_float(packed[v].value[k]) + bias[k];
      x[k] = backward ? to_float(packed_gradient[v].value[k]) * slope<T, kind>(x[k])
                      : value<T, kind>(x[k]);
    }
    store_eight(x, static_cast<T*>(arguments.out) + first);
  }
}

template <class T, bool backward>
cudaError_t launch_typed(const ActivationArguments& arguments, cudaStream_t stream) {
  constexpr std::int64_t in_block = 8 * threads * vectors;
  const auto blocks = static_cast<unsigned>((arguments.elements + in_block - 1) / in_block);
  const auto run = [&](auto kernel) { kernel<<<blocks, threads, 0, stream>>>(arguments); };
  switch (arguments.kind) {
    case Activation::gelu:
      run(activation_kernel<T, Activation::gelu, backward>);
      break;
    case Activation::gelu_tanh:
      run(activation_kernel<T, Activation::gelu_tanh, backward>);
      break;
    case Activation::relu:
      run(activation_kernel<T, Activation::relu, backward>);
      break;
  }
  return cudaGetLastError();
}

template <bool backward>
cudaError_t launch(const ActivationArguments& arguments, cudaStream_t stream) {
  if (arguments.elements == 0) return cudaSuccess;
  return with_type(arguments.dtype, [&](auto element) {
    return launch_typed<decltype(element), backward>(arguments, stream);
  });
}

}  // namespace

cudaError_t launch_activation_forward(const ActivationArguments& arguments, cudaStream_t stream) {
  return launch<false>(arguments, stream);
}

cudaError_t launch_activation_backward(const ActivationArguments& arguments, cudaStream_t stream) {
  return launch<true>(arguments, stream);
}

}  // namespace lockstep
