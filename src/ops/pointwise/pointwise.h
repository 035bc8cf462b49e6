// Convolutions of kernel size 1 and stride 1, which are matrix products.
#pragma once

#include "ops/block_convolution/block_arguments.h"
#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace lockstep {

// Returns x [B, in, H, W] times weight [out, in, 1, 1], plus bias [out] if defined. This is torch's
// conv2d with these arguments. All have the same dtype, f32|bf16|f16. Differentiable. On a GPU, if
// x is channels-last, it is a matrix product. If a parameter has a gradient buffer, this product
// adds its gradient there in f32. Throws c10::Error if the shapes do not fit. moments: if not null,
// our kernel writes the moments of the result there. The kernel supports bf16 and f16 without a
// bias, from 64 channels to a multiple of 256 channels, from compute capability 8.0 on.
at::Tensor pointwise_convolution(const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias = {}, ChannelMoments* moments = nullptr);

struct PointwiseMomentsKernel {
  void (*forward)(const PointwiseMoments&) = nullptr;  // runs on the current stream
  bool (*runs_here)() = nullptr;  // whether the kernels run on the current device
};
void register_cuda_pointwise_moments(PointwiseMomentsKernel kernel);

// The same as pointwise_convolution, and also returns x for its other readers. The gradient from
// these readers is added within this convolution's own product, so that it needs no separate sum.
std::tuple<at::Tensor, at::Tensor> pointwise_convolution_beside(const at::Tensor& x,
                                                                const at::Tensor& weight,
                                                                const at::Tensor& bias = {});

// Two such convolutions of one input, with separate parameters. If x and weights have the layouts
// above, on any device, they are computed as one product. The results are then parts of its
// channels. Both have a bias.
std::array<at::Tensor, 2> pointwise_convolutions(const at::Tensor& x,
                                                 const std::array<at::Tensor, 2>& weights,
                                                 const std::array<at::Tensor, 2>& biases);

}  // namespace lockstep
