// Moments for batch norm from the operation that computes a tensor. They save a pass over the
// tensor.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// The moments of a tensor [N, C, ...] before it was rounded to its dtype. The places of all N rows
// are divided into chunks, which together contain all elements. Undefined if nothing is known.
// Contiguous, on the tensor's device. The tensor must not have changed since.
struct ChannelMoments {
  at::Tensor partial;   // f32 [chunks, 2, C]: mean and sum of squared deviations of each chunk
  at::Tensor elements;  // f32 [chunks]: elements of a channel in each chunk; the first is not empty
};

}  // namespace lockstep
