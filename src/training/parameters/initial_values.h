// Initial values that are a pure function of the seed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns a leaf tensor, f32 [sizes] on the CPU, that requires grad, with values drawn from N(0,
// std^2). Each block of 4096 elements has its own random stream. So the values depend only on
// (seed, parameter), and not on the number of threads.
at::Tensor normal_parameter(at::IntArrayRef sizes, double std, std::uint64_t seed,
                            std::int64_t parameter);

// Returns such a tensor, filled with one value.
at::Tensor constant_parameter(at::IntArrayRef sizes, double value);

}  // namespace lockstep
