// Computes convolutions whose weight gradients a side stream can compute.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// One number for each spatial dimension, or one for all. Dilation is 1.
struct ConvolutionShape {
  std::vector<std::int64_t> stride{1}, padding{0};
  std::int64_t groups = 1;
};

// Computes a convolution as torch's conv1d, conv2d and conv3d, with ATen's operators.
//   x        [B, in, ...]
//   weight   [out, in / groups, ...]
//   bias     [out], or undefined
// Supports the dtypes that the device supports. The result is differentiable twice. While a GPU's
// step is captured, a side stream computes the gradients of weight and bias (shared/side_work.h),
// if they have gradient buffers. Throws c10::Error if shapes do not fit.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                       const ConvolutionShape& shape = {});

}  // namespace lockstep
