// Declares the implementations of dropout without gradients, among which dropout and ragged_dropout
// choose.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// These functions compute `dropout` and `ragged_dropout` with ATen's operators, on any device,
// without synchronising the device. They return a new tensor. Integer arithmetic is in i64, and
// offsets must be i64. x may also be f64.
at::Tensor dropout_reference(const at::Tensor& x, double p, const at::Tensor& counters,
                             std::int64_t layer);

at::Tensor ragged_dropout_reference(const at::Tensor& x, const at::Tensor& offsets, double p,
                                    const at::Tensor& counters, std::int64_t layer);

// These functions compute the same for a CPU tensor in a loop over its elements, on ATen's threads.
// Their results are bitwise those of the functions above.
at::Tensor dropout_cpu(const at::Tensor& x, double p, const at::Tensor& counters,
                       std::int64_t layer);
at::Tensor ragged_dropout_cpu(const at::Tensor& x, const at::Tensor& offsets, double p,
                              const at::Tensor& counters, std::int64_t layer);

}  // namespace lockstep
