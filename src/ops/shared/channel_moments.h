// Moments (means and squared deviations) of a tensor's channels. The operation that computes the
// tensor can also compute them. Batch norm then needs no extra pass over the tensor.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// The moments of a tensor [N, C, ...], computed before it was rounded to its dtype. The spatial
// positions of all N rows are divided into chunks, and each chunk has its own moments. Both members
// are contiguous, and on the tensor's device. They are undefined if the moments are not known. They
// are no longer valid once the tensor is changed.
struct ChannelMoments {
  at::Tensor partial;   // f32 [chunks, 2, C]: mean, and sum of squared deviations, of each chunk
  at::Tensor elements;  // f32 [chunks]: elements per channel; above 0 for the first chunk
};

}  // namespace lockstep
