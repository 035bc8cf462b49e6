// Common code of instance norm and batch norm: access to the kernels, and the bits that say which
// elements passed a ReLU.
#pragma once

#include "ops/channel_norm/fused_norm.h"

namespace lockstep {

// Returns the registered kernels. `forward` is null if no kernels are registered.
const ChannelNormKernels& channel_norm_kernels();

inline const float* floats_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}
inline float* floats_to(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
}

// Allocates ChannelNormForward::positive for x, u8. The array has one byte for the eight channels
// of a vector. Without vectors it has one byte per element.
at::Tensor bits_for(const at::Tensor& x, const VoxelLayout& layout);
// Converts the bytes of `positive` to factors 0 and 1, in the shape and dtype of x.
at::Tensor factors_of(const at::Tensor& bytes, const at::Tensor& x, const VoxelLayout& layout);

}  // namespace lockstep
