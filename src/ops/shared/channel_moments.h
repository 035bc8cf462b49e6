// Moments that the operation that computes a tensor can give to batch norm. They save a pass over
// the tensor.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// Moments of [N, C, ...] before it was rounded to its dtype. Its N times places are shared out in
// chunks, whose elements add up to all. Undefined where nothing is known. Contiguous, on the
// tensor's device; the tensor must not have changed since.
struct ChannelMoments {
  at::Tensor partial;   // f32 [chunks, 2, C]: of each the mean, and the sum of squared deviations
  at::Tensor elements;  // f32 [chunks]: of a channel in each; the first chunk has some
};

}  // namespace lockstep
