// Convolutions whose weight's gradient is made beside the backward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// One number for each dimension in space, or one for all; dilation is 1.
struct ConvolutionShape {
  std::vector<std::int64_t> stride{1}, padding{0};
  std::int64_t groups = 1;
};

// A convolution, as torch's conv1d, conv2d and conv3d. x [B, in, ...], weight [out, in / groups,
// ...], bias [out] or undefined. It takes any dtype that the device has it for, and is
// differentiable, also twice. It computes what ATen's operators do. In a graph on GPUs the
// gradients of weight and bias are computed on a side stream (side_work.h), if they go into
// gradient buffers. Throws c10::Error where shapes do not fit.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                       const ConvolutionShape& shape = {});

}  // namespace lockstep
