// Batch norm of this rank's rows by our kernels.
#pragma once

#include "ops/batch_norm/batch_norm.h"

namespace lockstep {

// Whether they serve: channels-last tensors on GPUs.
bool batch_norm_kernels_serve(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after);
// As batch_norm without of_ranks; x is one that they serve.
at::Tensor batch_norm_by_kernels(const at::Tensor& x, const BatchNormState& state, bool training,
                                 const AfterNorm& after, const KnownMoments& known);

// The same followed by ReLU and the largest of windows.
bool pooled_batch_norm_serves(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after);
at::Tensor pooled_batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                             const MaxPool& pool, const ChannelMoments& known);

}  // namespace lockstep
