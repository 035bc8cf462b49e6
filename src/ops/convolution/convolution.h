// Convolutions whose weight gradient is computed on a side stream.
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

// A convolution, as torch's conv1d, conv2d and conv3d. x: [B, in, ...]. weight: [out, in / groups,
// ...]. bias: [out] or undefined. It supports the dtypes that the device supports, and is
// differentiable twice. The results are those of ATen's operators. In a graph on GPUs the gradients
// of weight and bias are computed on a side stream (side_work.h), if they go into gradient buffers.
// Throws c10::Error if shapes do not fit.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                       const ConvolutionShape& shape = {});

}  // namespace lockstep
