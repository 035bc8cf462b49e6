// Computes convolutions. A side stream can compute the gradients of their weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// stride and padding have one number for each spatial dimension, or one number for all of them. The
// dilation is always 1.
struct ConvolutionShape {
  std::vector<std::int64_t> stride{1}, padding{0};
  std::int64_t groups = 1;
};

// Computes a convolution as torch's conv1d, conv2d and conv3d, with ATen's operators.
//   x        [B, in, ...]
//   weight   [out, in / groups, ...]
//   bias     [out], or undefined
// Supports the dtypes that ATen's convolution supports on the device. The result is differentiable
// twice. While a step is captured into a CUDA graph, a side stream (shared/side_work.h) can compute
// the gradients of weight and bias. For that, they must have gradient buffers (gradient_buffer.h).
// Throws c10::Error if shapes do not fit.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                       const ConvolutionShape& shape = {});

}  // namespace lockstep
