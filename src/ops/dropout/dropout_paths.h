// The implementations of dropout without gradients. ops/dropout/dropout.h chooses among them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Uses only ATen's operators, on any device, without synchronising it. Integer arithmetic is in
// i64. Arguments are as in ops/dropout/dropout.h, with offsets in i64, and x may also be f64.
// Returns a new tensor.
at::Tensor dropout_reference(const at::Tensor& x, double p, const at::Tensor& counters,
                             std::int64_t layer);

at::Tensor ragged_dropout_reference(const at::Tensor& x, const at::Tensor& offsets, double p,
                                    const at::Tensor& counters, std::int64_t layer);

// Loops over the elements of a CPU tensor, on ATen's threads. Results are bitwise those of the
// reference.
at::Tensor dropout_cpu(const at::Tensor& x, double p, const at::Tensor& counters,
                       std::int64_t layer);
at::Tensor ragged_dropout_cpu(const at::Tensor& x, const at::Tensor& offsets, double p,
                              const at::Tensor& counters, std::int64_t layer);

}  // namespace lockstep
