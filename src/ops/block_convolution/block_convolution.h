// Computes a network's first convolution with stride 2, over blocks of pixels instead of pixels.
//
// Libraries pad three channels to eight, and with stride 2 they use only half of the data that they
// read. Here each block of 2 x 2 pixels with up to four channels becomes one position with 16
// channels. The same convolution then has stride 1 and half the kernel size, and wastes fewer
// channels.
#pragma once

#include "ops/block_convolution/block_arguments.h"
#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Converts pictures x [B, C, H, W] to blocks, with C from 1 to 4. Returns [B, 16, H / 2 + 1, W / 2
// + 1], channels-last. H / 2 and W / 2 are rounded up. Block (i, j) has the pixels (2i − 1, 2j − 1)
// to (2i, 2j). Channel 8y + 4x + c of a block is channel c of the block's pixel (y, x), where y and
// x are 0 or 1. It is 0 if the picture has no such pixel or channel. The result is differentiable.
// Throws Error for other shapes.
at::Tensor in_blocks(const at::Tensor& x);

// Computes conv2d(x, weight, bias, stride 2, padding (k − 1) / 2) from blocks = in_blocks(x). The
// result is that of conv2d except for rounding, and is differentiable in the same way.
//   weight   [O, C, k, k] with k = 3, 7, 11 and so on, in any layout
//   bias     [O], or undefined
// All tensors have the same dtype. Throws Error for other shapes. Our kernel is used on GPUs of
// compute capability 8.0 or newer if all of these conditions hold:
//   - The dtype is bf16 or f16, and the blocks need no gradient.
//   - k is 7, O is a multiple of 64, and there is no bias.
// In all other cases ATen computes the result. If `moments` is not null, our kernel writes the
// moments of the result there. ATen leaves `moments` unchanged.
at::Tensor block_convolution(const at::Tensor& blocks, const at::Tensor& weight,
                             const at::Tensor& bias = {}, ChannelMoments* moments = nullptr);

struct BlockConvolutionKernels {
  void (*forward)(const BlockConvolutionForward&) = nullptr;  // runs on the current stream
  void (*backward)(const BlockConvolutionBackward&) = nullptr;
  bool (*runs_here)() = nullptr;  // whether the kernels run on the current device
};
void register_cuda_block_convolution(BlockConvolutionKernels kernels);

}  // namespace lockstep
