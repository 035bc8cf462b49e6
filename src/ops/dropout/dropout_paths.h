// The ways to compute dropout without gradients; ops/dropout/dropout.h chooses among them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// With ATen operators only, on any device, without synchronising it: integer arithmetic in i64.
// Arguments as in ops/dropout/dropout.h, offsets i64; f64 too. Returns a new tensor.
at::Tensor dropout_reference(const at::Tensor& x, double p, const at::Tensor& counters,
                             std::int64_t layer);

at::Tensor ragged_dropout_reference(const at::Tensor& x, const at::Tensor& offsets, double p,
                                    const at::Tensor& counters, std::int64_t layer);

// A loop over the elements of a CPU tensor, on ATen's threads. The same bits as the reference.
at::Tensor dropout_cpu(const at::Tensor& x, double p, const at::Tensor& counters,
                       std::int64_t layer);
at::Tensor ragged_dropout_cpu(const at::Tensor& x, const at::Tensor& offsets, double p,
                              const at::Tensor& counters, std::int64_t layer);

}  // namespace lockstep
