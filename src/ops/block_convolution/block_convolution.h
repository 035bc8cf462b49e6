// First convolutions of stride 2, over blocks of pixels in place of pixels.
//
// Libraries compute a convolution of three channels as one of eight, and skip half of what a stride
// of 2 reads. Where 2 x 2 pixels of up to four channels are one place of 16 channels, the same
// convolution has stride 1, half the kernel's size and no channels for nothing.
#pragma once

#include "ops/block_convolution/block_arguments.h"
#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// x [B, C, H, W], C from 1 to 4, as [B, 16, H / 2 + 1, W / 2 + 1], rounded up, channels-last: block
// (i, j) has the pixels (2i − 1, 2j − 1) to (2i, 2j), channel c of its pixel (y, x) as channel
// 8y + 4x + c, and 0 where there is no pixel or channel. Differentiable. Throws Error for other
// shapes.
at::Tensor in_blocks(const at::Tensor& x);

// conv2d(x, weight, bias, stride 2, padding (k − 1) / 2) of blocks = in_blocks(x), but for
// rounding: weight [O, C, k, k] with k of 3, 7, 11 and so on, in any layout, bias [O] or undefined,
// all of one dtype. Differentiable as conv2d is. Throws Error for other shapes. Kernels of ours
// serve blocks in bf16 and f16 that need no gradient, k of 7, O a multiple of 64 and no bias, from
// compute capability 8.0 on; else it is ATen's. moments: if not null, is told those of the result
// where they serve.
at::Tensor block_convolution(const at::Tensor& blocks, const at::Tensor& weight,
                             const at::Tensor& bias = {}, ChannelMoments* moments = nullptr);

struct BlockConvolutionKernels {
  void (*forward)(const BlockConvolutionForward&) = nullptr;  // on the current stream
  void (*backward)(const BlockConvolutionBackward&) = nullptr;
  bool (*runs_here)() = nullptr;  // on the current device
};
void register_cuda_block_convolution(BlockConvolutionKernels kernels);

}  // namespace lockstep
