// Moments of a tensor's channels, from the operation that computes the tensor. With them, batch
// norm needs no extra pass over the tensor.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// The moments of a tensor [N, C, ...], computed before it was rounded to its dtype. The places of
// all N rows are divided into chunks. Both members are contiguous, and on the tensor's device. They
// are undefined if the moments are not known. They are invalid if the tensor has changed since.
struct ChannelMoments {
  at::Tensor partial;   // f32 [chunks, 2, C]: mean, and sum of squared deviations, of each chunk
  at::Tensor elements;  // f32 [chunks]: number of elements per channel; above 0 for the first chunk
};

}  // namespace lockstep
