// Loads and stores elements of a tensor that is stored in runs. The type of elements is known only
// when the kernel runs. This is meant for kernels that read few bytes.
#pragma once

#include "ops/shared/detection_arguments.h"
#include "ops/shared/device/element.cuh"

namespace lockstep {

__device__ inline std::uint32_t place_of(const Runs& runs, std::uint32_t element) {
  return element / runs.length * runs.step + element % runs.length;
}

__device__ inline float load_as(KernelDtype dtype, const void* from, std::int64_t i) {
  if (dtype == KernelDtype::f32) return static_cast<const float*>(from)[i];
  if (dtype == KernelDtype::bf16) return to_float(static_cast<const __nv_bfloat16*>(from)[i]);
  return to_float(static_cast<const __half*>(from)[i]);
}

__device__ inline void store_as(KernelDtype dtype, float value, void* to, std::int64_t i) {
  if (dtype == KernelDtype::f32)
    static_cast<float*>(to)[i] = value;
  else if (dtype == KernelDtype::bf16)
    static_cast<__nv_bfloat16*>(to)[i] = from_float<__nv_bfloat16>(value);
  else
    static_cast<__half*>(to)[i] = from_float<__half>(value);
}

// Loads row i of [rows, 4]. The length of runs must be a multiple of four.
__device__ inline Corners load_four(KernelDtype dtype, const void* from, const Runs& runs,
                                    std::uint32_t row) {
  const std::uint32_t i = place_of(runs, 4 * row);
  return {load_as(dtype, from, i), load_as(dtype, from, i + 1), load_as(dtype, from, i + 2),
          load_as(dtype, from, i + 3)};
}

__device__ inline Corners corners_at(const float* boxes, std::int64_t i) {
  return reinterpret_cast<const Corners*>(boxes)[i];
}

// A row of a dense [rows, 4] tensor, aligned to the size of a row.
template <class T>
struct alignas(4 * sizeof(T)) FourOf {
  T value[4];
};
template <class T>
__device__ void store_four_of(const Corners& values, void* to, std::int64_t row) {
  static_cast<FourOf<T>*>(to)[row] = {from_float<T>(values.x1), from_float<T>(values.y1),
                                      from_float<T>(values.x2), from_float<T>(values.y2)};
}
__device__ inline void store_four(KernelDtype dtype, const Corners& values, void* to,
                                  std::int64_t row) {
  if (dtype == KernelDtype::f32)
    store_four_of<float>(values, to, row);
  else if (dtype == KernelDtype::bf16)
    store_four_of<__nv_bfloat16>(values, to, row);
  else
    store_four_of<__half>(values, to, row);
}

}  // namespace lockstep
