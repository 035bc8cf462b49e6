// First convolutions of stride 2, computed over blocks of pixels instead of pixels.
//
// Libraries pad three channels to eight, and with a stride of 2 they use only half of what they
// read. If 2 x 2 pixels of up to four channels become one place of 16 channels, the same
// convolution has stride 1 and half the kernel size, and it wastes no channels.
#pragma once

#include "ops/block_convolution/block_arguments.h"
#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// x: [B, C, H, W], C from 1 to 4. Returns [B, 16, H / 2 + 1, W / 2 + 1], rounded up, channels-last.
// Block (i, j) has the pixels (2i − 1, 2j − 1) to (2i, 2j). Channel 8y + 4x + c of a block is
// channel c of its pixel (y, x), or 0 if there is no such pixel or channel. Differentiable. Throws
// Error for other shapes.
at::Tensor in_blocks(const at::Tensor& x);

// Computes conv2d(x, weight, bias, stride 2, padding (k − 1) / 2) from blocks = in_blocks(x). The
// results are equal except for rounding. weight: [O, C, k, k] with k = 3, 7, 11 and so on, in any
// layout. bias: [O] or undefined. All have the same dtype. Differentiable as conv2d is. Throws
// Error for other shapes. Our kernels support blocks in bf16 and f16 that need no gradient, with k
// = 7, O a multiple of 64 and no bias, from compute capability 8.0 on. Otherwise ATen computes it.
// moments: if not null, our kernels write the moments of the result there.
at::Tensor block_convolution(const at::Tensor& blocks, const at::Tensor& weight,
                             const at::Tensor& bias = {}, ChannelMoments* moments = nullptr);

struct BlockConvolutionKernels {
  void (*forward)(const BlockConvolutionForward&) = nullptr;  // runs on the current stream
  void (*backward)(const BlockConvolutionBackward&) = nullptr;
  bool (*runs_here)() = nullptr;  // whether the kernels run on the current device
};
void register_cuda_block_convolution(BlockConvolutionKernels kernels);

}  // namespace lockstep
