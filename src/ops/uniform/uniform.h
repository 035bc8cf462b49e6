// Computes uniform random numbers that depend only on seed, step, layer, the row's index in the
// global batch, and the element.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns f32 [rows, n] in [0, 1) on the counters' device, with the same bits on every device.
// counters are i64 [3]: seed, step, first_global_row. `layer` is different for each draw of a
// model. Does not synchronise the device. Number e of row b is (word >> 8) × 2^-24, where `word` is
// word e % 4 of
//   philox(counter = {e / 4, first_global_row + b, step, layer}, key = seed * 2).
// The keys of dropout (dropout.h) are odd, so uniform numbers and dropout never draw with the same
// key.
at::Tensor uniform(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                   std::int64_t layer);

// Computes `uniform` with ATen's operators, on any device.
at::Tensor uniform_reference(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                             std::int64_t layer);

struct UniformArguments;
using UniformKernel = void (*)(const UniformArguments&);  // runs on the current stream
void register_cuda_uniform(UniformKernel kernel);

}  // namespace lockstep
