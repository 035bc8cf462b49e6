// What the kernels of a first convolution over blocks of pixels are given.
#pragma once

#include "kernels/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A convolution of 7 x 7 pixels, stride 2 and padding 3, as one of 4 x 4 blocks of 16 channels
// (kernels/block_convolution.h). Everything on the device.
struct BlockConvolution {
  KernelDtype dtype = KernelDtype::bf16;  // bf16 or f16
  const void* blocks = nullptr;           // [batch, height + 1, width + 1, 16], aligned to 16 bytes
  std::int64_t batch = 0;
  int height = 0, width = 0;  // of the result
  int outs = 0;               // its channels, a multiple of block_convolution_outs
  int channels = 0;           // of a pixel, up to 4
};
constexpr int block_convolution_size = 7, block_convolution_outs = 64;
// Blocks that share out the gradient of the weight: a number of its own, whatever the GPU.
constexpr int block_convolution_shares = 264;

struct BlockConvolutionForward {
  BlockConvolution shape;
  const void* weight = nullptr;  // [outs, channels, 7, 7], which lies as these say, in elements
  std::int64_t weight_strides[4] = {};
  void* y = nullptr;  // [batch, height, width, outs], aligned to 16 bytes
};
struct BlockConvolutionBackward {
  BlockConvolution shape;
  const void* of_y = nullptr;  // as y
  float* partial = nullptr;    // [outs / 64, shares, 64, 256]
  float* of_weight = nullptr;  // [outs, channels, 7, 7], which lies as these say; added to
  std::int64_t weight_strides[4] = {};
};

}  // namespace lockstep
