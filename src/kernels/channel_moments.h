// What whoever computes a tensor can tell batch norm of it, which saves a pass over it.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// Of [N, C, ...], whose N times places are shared out in chunks; undefined where nothing is known.
struct ChannelMoments {
  at::Tensor partial;   // f32 [chunks, 2, C]: of each the mean, and the sum of squared deviations
  at::Tensor elements;  // f32 [chunks]: of a channel in each; the first chunk has some
};

}  // namespace lockstep
