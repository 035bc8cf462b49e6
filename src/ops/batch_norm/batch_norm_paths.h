// Batch norm over this rank's rows by our kernels.
#pragma once

#include "ops/batch_norm/batch_norm.h"

namespace lockstep {

// Whether the kernels support these arguments. They need channels-last tensors on GPUs.
bool batch_norm_kernels_serve(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after);
// As batch_norm without of_ranks. The kernels must support x.
at::Tensor batch_norm_by_kernels(const at::Tensor& x, const BatchNormState& state, bool training,
                                 const AfterNorm& after, const KnownMoments& known);

// The same, followed by ReLU and max pooling.
bool pooled_batch_norm_serves(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after);
at::Tensor pooled_batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                             const MaxPool& pool, const ChannelMoments& known);

}  // namespace lockstep
