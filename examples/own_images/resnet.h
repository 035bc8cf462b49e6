// ResNet-18 (He et al., arXiv:1512.03385), its parts named as torchvision names them, so that its
// files of weights fit.
#pragma once

#include <lockstep/training/recipe/batch_norm.h>
#include <torch/torch.h>

struct BasicBlockImpl : torch::nn::Module {
  BasicBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride);
  at::Tensor forward(const at::Tensor& x, const lockstep::StepContext& context);

  torch::nn::Conv2d conv1, conv2;
  lockstep::BatchNorm bn1, bn2;
  torch::nn::ModuleList downsample;  // a convolution and a norm; empty where nothing changes
};
TORCH_MODULE(BasicBlock);

struct ResNetImpl : torch::nn::Module {
  // width: channels of the first stage, 64 in the paper.
  ResNetImpl(std::int64_t width, std::int64_t classes);
  // x [B, 3, H, W] in the dtype of the weights; logits [B, classes].
  at::Tensor forward(at::Tensor x, const lockstep::StepContext& context);

  torch::nn::Conv2d conv1;
  lockstep::BatchNorm bn1;
  torch::nn::ModuleList layer1, layer2, layer3, layer4;
  torch::nn::Linear fc;
};
