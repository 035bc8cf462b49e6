// ResNet-18, -34, -50 and -101 (He et al., arXiv:1512.03385) up to stride 16. Modules have the same
// names as in torchvision and timm, so that weight files of these libraries can be loaded.
#pragma once

#include "ops/picture_input/picture_input.h"
#include "training/recipe/batch_norm.h"

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>

#include <cstdint>

namespace lockstep::fewshot {

// The first three stages of a ResNet. The fourth stage and the classifier are omitted.
class TrunkImpl : public torch::nn::Module {
 public:
  // depth: 18, 34, 50 or 101. width: channels of the first stage, 64 in the paper. Weights are
  // channels-last. Their initial values are random (Kaiming, fan-out), from torch's default
  // generator.
  TrunkImpl(std::int64_t depth, std::int64_t width);

  // x: pictures [B, 3, H, W] in the dtype of the weights. With PictureLayout::blocks, x is [B, 16,
  // ceil(H / 2) + 1, ceil(W / 2) + 1] instead: each block of 2 x 2 pixels is one position with 16
  // channels (in_blocks of block_convolution.h). Returns values >= 0, [B, channels(), ceil(H / 16),
  // ceil(W / 16)]. Both layouts give the same result, up to rounding.
  at::Tensor forward(const at::Tensor& x, const StepContext& context,
                     PictureLayout layout = PictureLayout::plain);
  std::int64_t channels() const { return channels_; }

 private:
  std::int64_t channels_;
  torch::nn::Conv2d conv1;
  BatchNorm bn1;
  torch::nn::ModuleList layer1, layer2, layer3;
};
TORCH_MODULE(Trunk);

}  // namespace lockstep::fewshot
