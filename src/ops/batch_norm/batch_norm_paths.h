// Declares batch norm by our kernels, with the statistics of one rank.
#pragma once

#include "ops/batch_norm/batch_norm.h"

namespace lockstep {

// Whether the kernels support these arguments. All tensors must be channels-last and on a GPU.
bool batch_norm_kernels_serve(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after);
// Computes batch_norm without of_ranks and without pool. Call it only if batch_norm_kernels_serve
// returned true.
at::Tensor batch_norm_by_kernels(const at::Tensor& x, const BatchNormState& state, bool training,
                                 const AfterNorm& after, const KnownMoments& known);

// These functions do the same as the two above for batch norm, ReLU and max pooling of images,
// without skip.
bool pooled_batch_norm_serves(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after);
at::Tensor pooled_batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                             const MaxPool& pool, const ChannelMoments& known);

}  // namespace lockstep
