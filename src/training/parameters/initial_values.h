// Initial values that are a pure function of the seed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// A leaf f32 tensor [sizes] on the CPU with gradients on, drawn from N(0, std^2). Each block of
// 4096 elements has a stream of its own, so the values depend on (seed, parameter) alone, whatever
// the number of threads.
at::Tensor normal_parameter(at::IntArrayRef sizes, double std, std::uint64_t seed,
                            std::int64_t parameter);

// The same, filled with one value.
at::Tensor constant_parameter(at::IntArrayRef sizes, double value);

}  // namespace lockstep
