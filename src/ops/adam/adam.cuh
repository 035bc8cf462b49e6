// The arithmetic of Adam and AdamW for one element.
#pragma once

#include "ops/shared/device/element.cuh"
#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// Factors shared by all elements of a range.
struct AdamFactors {
  float one_over_divisor, lr, one_over_correction2, step_size, decay;
};
static_assert(sizeof(AdamFactors) == adam_factors * sizeof(float));

__device__ inline AdamFactors adam_factors_of(const AdamArguments& launch, std::int64_t range) {
  return reinterpret_cast<const AdamFactors*>(launch.factors)[range];
}

__device__ inline void decay_weight(float& weight, const AdamFactors& factors) {
  weight -= factors.lr * factors.decay * weight;
}

__device__ inline void adam_update(float& weight, float gradient, float& first, float& second,
                                   const AdamArguments& launch, const AdamFactors& factors) {
  gradient *= factors.one_over_divisor;
  const auto beta1 = static_cast<float>(launch.beta1), beta2 = static_cast<float>(launch.beta2);
  if (launch.decoupled)
    decay_weight(weight, factors);
  else
    gradient += factors.decay * weight;
  first += (1.0F - beta1) * (gradient - first);
  second = beta2 * second + (1.0F - beta2) * gradient * gradient;
  weight -= factors.step_size * first /
            (sqrtf(second) * factors.one_over_correction2 + static_cast<float>(launch.eps));
}

__device__ inline void load_four(const float* from, float (&to)[4]) {
  const float4 values = *reinterpret_cast<const float4*>(from);
  to[0] = values.x, to[1] = values.y, to[2] = values.z, to[3] = values.w;
}

// Gradients are f32 or bf16. All gradients of a range have the same type.
__device__ inline void load_four_gradients(const AdamRange& range, std::int64_t at,
                                           float (&to)[4]) {
  if (range.gradients_dtype == KernelDtype::f32)
    return load_four(static_cast<const float*>(range.gradients) + at, to);
  const auto* const from = static_cast<const __nv_bfloat16*>(range.gradients) + at;
  const Four<__nv_bfloat16> values = *reinterpret_cast<const Four<__nv_bfloat16>*>(from);
#pragma unroll
  for (int k = 0; k < 4; ++k) to[k] = to_float(values.value[k]);
}

struct AdamFour {
  float weight[4], first[4], second[4];
};

// Updates four elements of a range, from `at` on, and returns them.
__device__ inline AdamFour updated_four(const AdamArguments& launch, const AdamRange& range,
                                        const AdamFactors& factors, std::int64_t at) {
  AdamFour four;
  float gradient[4];
  load_four(range.weights + at, four.weight);
  load_four_gradients(range, at, gradient);
  load_four(range.first + at, four.first);
  load_four(range.second + at, four.second);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    adam_update(four.weight[k], gradient[k], four.first[k], four.second[k], launch, factors);
  return four;
}

}  // namespace lockstep
