// Computes convolutions with kernel size 1 and stride 1, which are matrix products.
#pragma once

#include "ops/block_convolution/block_arguments.h"
#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace lockstep {

// Returns torch's conv2d with kernel size 1: x [B, in, H, W] times weight [out, in, 1, 1], plus
// bias [out] if defined. All tensors have the same dtype, f32|bf16|f16. The result is
// differentiable. Throws c10::Error if shapes do not fit.
//
// On a GPU, if x is channels-last, a matrix product computes the result. In this case, if a
// parameter has a gradient buffer (gradient_buffer.h), its gradient is added there in f32.
//
// If `moments` is not null, our kernel writes the moments of the result there. The kernel supports
// bf16 and f16 without bias, from 64 channels to a multiple of 256 channels, on GPUs of compute
// capability 8.0 or newer. In all other cases `moments` remains unchanged.
at::Tensor pointwise_convolution(const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias = {}, ChannelMoments* moments = nullptr);

struct PointwiseMomentsKernel {
  void (*forward)(const PointwiseMoments&) = nullptr;  // runs on the current stream
  bool (*runs_here)() = nullptr;  // whether the kernels run on the current device
};
void register_cuda_pointwise_moments(PointwiseMomentsKernel kernel);

// Computes pointwise_convolution, and also returns x as the second result. Other operations that
// need x should read the second result. The product for the gradient of x then also adds the
// gradients from these operations, so no separate sum is needed.
std::tuple<at::Tensor, at::Tensor> pointwise_convolution_beside(const at::Tensor& x,
                                                                const at::Tensor& weight,
                                                                const at::Tensor& bias = {});

// Computes two pointwise convolutions of the same input x, both with a bias. If x is channels-last
// and the weights are contiguous, one matrix product computes both, on any device. The results are
// then views of the channels of this product.
std::array<at::Tensor, 2> pointwise_convolutions(const at::Tensor& x,
                                                 const std::array<at::Tensor, 2>& weights,
                                                 const std::array<at::Tensor, 2>& biases);

}  // namespace lockstep
