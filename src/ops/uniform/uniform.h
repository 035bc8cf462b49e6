// Uniform numbers that are a pure function of (seed, step, layer, place, element).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns f32 [rows, n] in [0, 1) on the counters' device, with the same bits on every device.
// counters: i64 [3] (seed, step, first_global_row). Number e of row b is (word e % 4 of
//   philox(counter = {e / 4, first_global_row + b, step, layer}, key = seed * 2)) >> 8
// times 2^-24. Dropout's keys are odd, so the two never share a draw. Does not synchronise the
// device.
at::Tensor uniform(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                   std::int64_t layer);

// The same with ATen's operators only, on any device.
at::Tensor uniform_reference(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                             std::int64_t layer);

struct UniformArguments;
using UniformKernel = void (*)(const UniformArguments&);  // runs on the current stream
void register_cuda_uniform(UniformKernel kernel);

}  // namespace lockstep
