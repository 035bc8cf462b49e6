// Arguments of two convolution kernels: a first convolution over blocks of pixels, and a 1 x 1
// convolution from few channels to many. A member `of_x` is the gradient of x. All pointers are to
// device memory.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A convolution with a kernel of 7 x 7 pixels, stride 2 and padding 3. It is computed as a
// convolution with a kernel of 4 x 4 blocks, which have 16 channels
// (ops/block_convolution/block_convolution.h).
struct BlockConvolution {
  KernelDtype dtype = KernelDtype::bf16;  // bf16 or f16
  const void* blocks = nullptr;           // [batch, height + 1, width + 1, 16], aligned to 16 bytes
  std::int64_t batch = 0;
  int height = 0, width = 0;  // size of the result
  int outs = 0;               // channels of the result, a multiple of block_convolution_outs
  int channels = 0;           // channels of a pixel, up to 4
};
constexpr int block_convolution_size = 7, block_convolution_outs = 64;
// The result is divided into tiles of block_tile_height x block_tile_width pixels. The number of
// thread blocks is block_convolution_chunks, or the number of tiles if that is smaller (chunks_of).
// Each thread block computes the moments of one chunk, or one share of the weight's gradient. The
// number of thread blocks does not depend on the GPU, so sums are the same on all GPUs.
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
  const void* weight = nullptr;  // [outs, channels, 7, 7]; the strides are in elements
  std::int64_t weight_strides[4] = {};
  void* y = nullptr;  // [batch, height, width, outs], aligned to 16 bytes
  // The moments of y, or null if they are not wanted. They are as in ChannelMoments: [chunks_of, 2,
  // outs] and [chunks_of].
  float *moments = nullptr, *elements = nullptr;
};
struct BlockConvolutionBackward {
  BlockConvolution shape;
  const void* of_y = nullptr;  // the gradient of y, in the layout of y
  float* partial = nullptr;    // working memory [outs / 64, chunks_of, 64, 256]
  // [outs, channels, 7, 7], with strides weight_strides. The gradient is added to the values that
  // are already there.
  float* of_weight = nullptr;
  std::int64_t weight_strides[4] = {};
};

// Computes y = x [rows, 64] times weight [outs, 64] transposed, and the moments of y. All pointers
// are aligned to 16 bytes.
struct PointwiseMoments {
  KernelDtype dtype = KernelDtype::bf16;  // bf16 or f16
  const void *x = nullptr, *weight = nullptr;
  void* y = nullptr;  // [rows, outs]
  // The moments of y. They are as in ChannelMoments: [chunks, 2, outs] and [chunks].
  float *partial = nullptr, *elements = nullptr;
  std::int64_t rows = 0, chunks = 0;
  int outs = 0;  // a multiple of pointwise_moments_outs
};
constexpr int pointwise_moments_depth = 64;
// A tile of the result has pointwise_moments_outs columns and pointwise_moments_tile rows.
constexpr int pointwise_moments_outs = 256, pointwise_moments_tile = 64;
constexpr std::int64_t pointwise_moments_chunks = 264;

}  // namespace lockstep
