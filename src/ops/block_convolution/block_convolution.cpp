#include "ops/block_convolution/block_convolution.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/picture_input/picture_inline.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>

namespace lockstep {
namespace {

// Folds [B, 4, 2h, 2w] in any layout to [B, 16, h, w], channels-last.
at::Tensor fold(const at::Tensor& x) {
  const std::int64_t height = x.size(2) / 2, width = x.size(3) / 2;
  return x.view({x.size(0), picture_most_channels, height, 2, width, 2})
      .permute({0, 2, 4, 3, 5, 1})  // [B, h, w, 2, 2, 4]
      .contiguous()
      .view({x.size(0), height, width, block_channels})
      .permute({0, 3, 1, 2});
}

bool fits(std::int64_t channels) { return channels >= 1 && channels <= picture_most_channels; }

// For result row i, row r of the kernel reads pixel row 2i + r − (k − 1) / 2. Blocks begin one
// pixel early. So that pixel row is line r % 2 of block i + r / 2 − (k − 3) / 4.
at::Tensor blocks_by_aten(const at::Tensor& blocks, const at::Tensor& weight,
                          const at::Tensor& bias) {
  const at::Tensor folded = fold(at::constant_pad_nd(
      weight.contiguous(), {0, 1, 0, 1, 0, picture_most_channels - weight.size(1)}));
  return at::conv2d(blocks, folded, if_defined(bias), /*stride=*/1,
                    /*padding=*/(weight.size(2) - 3) / 4);
}

BlockConvolutionKernels block_kernels;  // set once, before the first step

bool block_kernels_serve(const at::Tensor& blocks, const at::Tensor& weight,
                         const at::Tensor& bias) {
  return block_kernels.forward != nullptr && blocks.is_cuda() && weight.is_cuda() &&
         !bias.defined() &&
         (blocks.scalar_type() == at::kBFloat16 || blocks.scalar_type() == at::kHalf) &&
         weight.scalar_type() == blocks.scalar_type() && blocks.numel() > 0 &&
         !blocks.requires_grad() && blocks.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         aligned(blocks) && weight.size(2) == block_convolution_size && weight.size(0) > 0 &&
         weight.size(0) % block_convolution_outs == 0 && blocks.size(2) > 1 && blocks.size(3) > 1 &&
         block_kernels.runs_here();
}

BlockConvolution block_shape_of(const at::Tensor& blocks, const at::Tensor& weight) {
  return {.dtype = *kernel_dtype(blocks.scalar_type()),
          .blocks = blocks.const_data_ptr(),
          .batch = blocks.size(0),
          .height = static_cast<int>(blocks.size(2) - 1),
          .width = static_cast<int>(blocks.size(3) - 1),
          .outs = static_cast<int>(weight.size(0)),
          .channels = static_cast<int>(weight.size(1))};
}

struct BlockConvolved : torch::autograd::Function<BlockConvolved> {
  // moments: receives the result's moments if it is not null.
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& blocks,
                            const at::Tensor& weight, ChannelMoments* moments) {
    const BlockConvolution shape = block_shape_of(blocks, weight);
    const at::Tensor y = at::empty({shape.batch, shape.outs, shape.height, shape.width},
                                   blocks.options().memory_format(at::MemoryFormat::ChannelsLast));
    BlockConvolutionForward launch{.shape = shape, .weight = weight.const_data_ptr()};
    std::copy_n(weight.strides().begin(), 4, launch.weight_strides);
    launch.y = y.mutable_data_ptr();
    if (moments != nullptr) {
      const auto f32 = blocks.options().dtype(at::kFloat);
      *moments = {.partial = at::empty({chunks_of(shape), 2, shape.outs}, f32),
                  .elements = at::empty({chunks_of(shape)}, f32)};
      launch.moments = moments->partial.mutable_data_ptr<float>();
      launch.elements = moments->elements.mutable_data_ptr<float>();
    }
    block_kernels.forward(launch);
    context->save_for_backward({blocks, weight});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &blocks = saved[0], &weight = saved[1];
    if (!gradients[0].defined()) return {{}, {}, {}};
    if (is_differentiated())
      return {{},
              differentiable_gradients(
                  [&](const std::vector<at::Tensor>& in) {
                    return std::vector{blocks_by_aten(blocks, in[0], {})};
                  },
                  {weight}, {gradients[0]})[0],
              {}};
    const at::Tensor up = lying_densely(gradients[0], at::MemoryFormat::ChannelsLast);
    GradientWriter writer({{.parameter = weight, .needed = true}});
    const at::Tensor of_weight = writer.open_or_zeros(0).into;
    const BlockConvolution shape = block_shape_of(blocks, weight);
    const at::Tensor partial =
        at::empty({shape.outs, chunks_of(shape), std::int64_t{4} * 4 * block_channels},
                  blocks.options().dtype(at::kFloat));
    BlockConvolutionBackward launch{.shape = shape,
                                    .of_y = up.const_data_ptr(),
                                    .partial = partial.mutable_data_ptr<float>(),
                                    .of_weight = of_weight.mutable_data_ptr<float>()};
    std::copy_n(of_weight.strides().begin(), 4, launch.weight_strides);
    block_kernels.backward(launch);
    return {{}, writer.returned(0), {}};
  }
};

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
                             const at::Tensor& bias, ChannelMoments* moments) {
  const std::int64_t size = weight.dim() == 4 ? weight.size(2) : 0;
  if (blocks.dim() != 4 || blocks.size(1) != block_channels || size % 4 != 3 ||
      weight.size(3) != size || !fits(weight.size(1)))
    throw Error(cat("block_convolution wants blocks [B, ", block_channels,
                    ", h, w] and a weight [O, C, k, k] with 1 to 4 channels and k of 3, 7, 11 and "
                    "so on, but got ",
                    blocks.sizes(), " and ", weight.sizes()));
  return block_kernels_serve(blocks, weight, bias) ? BlockConvolved::apply(blocks, weight, moments)
                                                   : blocks_by_aten(blocks, weight, bias);
}

void register_cuda_block_convolution(BlockConvolutionKernels given) { block_kernels = given; }

}  // namespace lockstep
