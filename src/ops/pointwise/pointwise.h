// Convolutions of kernel size 1 and stride 1, which are products of a matrix.
#pragma once

#include "ops/block_convolution/block_arguments.h"
#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace lockstep {

// x [B, in, H, W] times weight [out, in, 1, 1], plus bias [out] if defined: the convolution that
// torch calls conv2d with them, all f32|bf16|f16 of one dtype; differentiable. On a GPU, where x is
// channels-last, it is a matrix product, and where a parameter has a gradient buffer, its gradient
// is added there in f32 by that product. Throws c10::Error where the shapes do not fit.
// moments: if not null, is told those of the result where a kernel of ours serves: bf16 and f16, 64
// channels to a multiple of 256, no bias, from compute capability 8.0 on.
at::Tensor pointwise_convolution(const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias = {}, ChannelMoments* moments = nullptr);

struct PointwiseMomentsKernel {
  void (*forward)(const PointwiseMoments&) = nullptr;  // on the current stream
  bool (*runs_here)() = nullptr;                       // on the current device
};
void register_cuda_pointwise_moments(PointwiseMomentsKernel kernel);

// The same, and x again, for what else reads it: the gradient that comes back by that way is added
// within the product of this one's, in place of a sum of its own.
std::tuple<at::Tensor, at::Tensor> pointwise_convolution_beside(const at::Tensor& x,
                                                                const at::Tensor& weight,
                                                                const at::Tensor& bias = {});

// Two such convolutions of one input, whose parameters stay apart. If x and weights lie as above,
// on any device, they are one product, and the results are its channels side by side. Both have a
// bias.
std::array<at::Tensor, 2> pointwise_convolutions(const at::Tensor& x,
                                                 const std::array<at::Tensor, 2>& weights,
                                                 const std::array<at::Tensor, 2>& biases);

}  // namespace lockstep
