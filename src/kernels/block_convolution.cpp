#include "kernels/block_convolution.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/own_kernels.h"
#include "kernels/picture_inline.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>

#include <cstdint>

namespace lockstep {
namespace {

// [B, 4, 2h, 2w] in any layout to [B, 16, h, w], channels-last.
at::Tensor fold(const at::Tensor& x) {
  const std::int64_t height = x.size(2) / 2, width = x.size(3) / 2;
  return x.view({x.size(0), picture_most_channels, height, 2, width, 2})
      .permute({0, 2, 4, 3, 5, 1})  // [B, h, w, 2, 2, 4]
      .contiguous()
      .view({x.size(0), height, width, block_channels})
      .permute({0, 3, 1, 2});
}

bool fits(std::int64_t channels) { return channels >= 1 && channels <= picture_most_channels; }

}  // namespace

at::Tensor in_blocks(const at::Tensor& x) {
  if (x.dim() != 4 || !fits(x.size(1)))
    throw Error(cat("pictures in blocks are made of [B, C, H, W] with 1 to 4 channels, not of ",
                    x.sizes()));
  const std::int64_t height = x.size(2), width = x.size(3);
  return fold(at::constant_pad_nd(x.contiguous(), {1, 2 * blocks_along(width) - width - 1, 1,
                                                   2 * blocks_along(height) - height - 1, 0,
                                                   picture_most_channels - x.size(1)}));
}

at::Tensor block_convolution(const at::Tensor& blocks, const at::Tensor& weight,
                             const at::Tensor& bias) {
  const std::int64_t size = weight.dim() == 4 ? weight.size(2) : 0;
  if (blocks.dim() != 4 || blocks.size(1) != block_channels || size % 4 != 3 ||
      weight.size(3) != size || !fits(weight.size(1)))
    throw Error(cat("block_convolution wants blocks [B, ", block_channels,
                    ", h, w] and a weight [O, C, k, k] with 1 to 4 channels and k of 3, 7, 11 and "
                    "so on, but got ",
                    blocks.sizes(), " and ", weight.sizes()));
  // Row r of the kernel meets the pixels of rows 2i + r − (k − 1) / 2: with blocks that begin one
  // pixel early, those are in line r % 2 of block i + r / 2 − (k − 3) / 4.
  const at::Tensor folded = fold(at::constant_pad_nd(
      weight.contiguous(), {0, 1, 0, 1, 0, picture_most_channels - weight.size(1)}));
  return at::conv2d(blocks, folded, if_defined(bias), /*stride=*/1, /*padding=*/(size - 3) / 4);
}

}  // namespace lockstep
