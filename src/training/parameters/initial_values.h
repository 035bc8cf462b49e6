// Makes parameters with initial values that depend only on the seed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns a leaf tensor that requires grad, f32 [sizes] on the CPU. Its values are drawn from the
// normal distribution N(0, std^2). Each block of 4096 elements has its own random stream. So the
// values do not depend on the number of threads. parameter: a number that is different for each
// parameter of the model.
at::Tensor normal_parameter(at::IntArrayRef sizes, double std, std::uint64_t seed,
                            std::int64_t parameter);

// Returns a leaf tensor that requires grad, f32 [sizes] on the CPU, filled with `value`.
at::Tensor constant_parameter(at::IntArrayRef sizes, double value);

}  // namespace lockstep
