// Common code of instance norm and batch norm: the kernels, and the bits that say which elements
// passed a ReLU.
#pragma once

#include "ops/channel_norm/fused_norm.h"

namespace lockstep {

// `forward` is null if there are no kernels.
const ChannelNormKernels& channel_norm_kernels();

inline const float* floats_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}
inline float* floats_to(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
}

// u8: one byte for the eight channels of a vector, or one for each element of x.
at::Tensor bits_for(const at::Tensor& x, const VoxelLayout& layout);
// Converts such bytes to factors 0 and 1, in x's shape and type.
at::Tensor factors_of(const at::Tensor& bytes, const at::Tensor& x, const VoxelLayout& layout);

}  // namespace lockstep
