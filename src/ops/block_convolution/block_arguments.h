// Arguments of the convolutions that have kernels of our own: a first convolution over blocks of
// pixels, and a 1 x 1 convolution from few channels to many.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A convolution of 7 x 7 pixels, stride 2 and padding 3, computed as a convolution of 4 x 4 blocks
// of 16 channels (ops/block_convolution/block_convolution.h). Everything is on the device.
struct BlockConvolution {
  KernelDtype dtype = KernelDtype::bf16;  // bf16 or f16
  const void* blocks = nullptr;           // [batch, height + 1, width + 1, 16], aligned to 16 bytes
  std::int64_t batch = 0;
  int height = 0, width = 0;  // size of the result
  int outs = 0;               // channels of the result, a multiple of block_convolution_outs
  int channels = 0;           // channels of a pixel, up to 4
};
constexpr int block_convolution_size = 7, block_convolution_outs = 64;
// The number of thread blocks. There are as many chunks of moments, and as many shares of the
// weight's gradient. The number is the same on any GPU. If there are fewer tiles, it is the number
// of tiles.
constexpr int block_convolution_chunks = 264, block_tile_height = 8, block_tile_width = 32;
inline std::int64_t tiles_of(const BlockConvolution& shape) {
  return shape.batch * ((shape.width + block_tile_width - 1) / block_tile_width) *
         ((shape.height + block_tile_height - 1) / block_tile_height);
}
inline std::int64_t chunks_of(const BlockConvolution& shape) {
  const std::int64_t tiles = tiles_of(shape);
  return tiles < block_convolution_chunks ? tiles : block_convolution_chunks;
}

struct BlockConvolutionForward {
  BlockConvolution shape;
  const void* weight = nullptr;  // [outs, channels, 7, 7], with these strides, in elements
  std::int64_t weight_strides[4] = {};
  void* y = nullptr;  // [batch, height, width, outs], aligned to 16 bytes
  // As in ChannelMoments: [chunks_of, 2, outs] and [chunks_of]. Both are null if they are not
  // wanted.
  float *moments = nullptr, *elements = nullptr;
};
struct BlockConvolutionBackward {
  BlockConvolution shape;
  const void* of_y = nullptr;  // the gradient of y, in its layout
  float* partial = nullptr;    // [outs / 64, chunks_of, 64, 256]
  // [outs, channels, 7, 7], with these strides; the gradient is added to it
  float* of_weight = nullptr;
  std::int64_t weight_strides[4] = {};
};

// y = x [rows, 64] times weight [outs, 64] transposed. Everything is on the device, aligned to 16
// bytes.
struct PointwiseMoments {
  KernelDtype dtype = KernelDtype::bf16;  // bf16 or f16
  const void *x = nullptr, *weight = nullptr;
  void* y = nullptr;  // [rows, outs]
  // As in ChannelMoments: [chunks, 2, outs] and [chunks].
  float *partial = nullptr, *elements = nullptr;
  std::int64_t rows = 0, chunks = 0;
  int outs = 0;  // a multiple of pointwise_moments_outs
};
constexpr int pointwise_moments_depth = 64;
constexpr int pointwise_moments_outs = 256, pointwise_moments_tile = 64;  // columns, rows
constexpr std::int64_t pointwise_moments_chunks = 264;

}  // namespace lockstep
