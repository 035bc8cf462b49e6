#include "resnet.h"

using namespace lockstep;
namespace nn = torch::nn;

namespace {

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

nn::ModuleList stage(std::int64_t in, std::int64_t out, std::int64_t stride) {
  return nn::ModuleList(BasicBlock(in, out, stride), BasicBlock(out, out, 1));
}

}  // namespace

BasicBlockImpl::BasicBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
    : conv1(register_module("conv1", convolution(in, out, 3, stride))),
      conv2(register_module("conv2", convolution(out, out, 3, 1))),
      bn1(register_module("bn1", BatchNorm(out))),
      bn2(register_module("bn2", BatchNorm(out))),
      downsample(register_module("downsample", nn::ModuleList())) {
  if (stride == 1 && in == out) return;
  downsample->push_back(convolution(in, out, 1, stride));
  downsample->push_back(BatchNorm(out));
}

at::Tensor BasicBlockImpl::forward(const at::Tensor& x, const StepContext& context) {
  at::Tensor y = bn1->forward(conv1(x), context).relu();
  y = bn2->forward(conv2(y), context);
  if (downsample->is_empty()) return (y + x).relu();
  const at::Tensor side = downsample->at<nn::Conv2dImpl>(0).forward(x);
  return (y + downsample->at<BatchNormImpl>(1).forward(side, context)).relu();
}

ResNetImpl::ResNetImpl(std::int64_t width, std::int64_t classes)
    : conv1(register_module("conv1", convolution(3, width, 7, 2))),
      bn1(register_module("bn1", BatchNorm(width))),
      layer1(register_module("layer1", stage(width, width, 1))),
      layer2(register_module("layer2", stage(width, 2 * width, 2))),
      layer3(register_module("layer3", stage(2 * width, 4 * width, 2))),
      layer4(register_module("layer4", stage(4 * width, 8 * width, 2))),
      fc(register_module("fc", nn::Linear(8 * width, classes))) {
  for (at::Tensor& weight : parameters())
    if (weight.dim() == 4) {
      nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
      weight.set_data(weight.contiguous(at::MemoryFormat::ChannelsLast));  // faster on GPUs
    }
}

at::Tensor ResNetImpl::forward(at::Tensor x, const StepContext& context) {
  x = torch::max_pool2d(bn1->forward(conv1(x), context).relu(), 3, 2, 1);
  for (const nn::ModuleList& layer : {layer1, layer2, layer3, layer4})
    for (const std::shared_ptr<nn::Module>& block : *layer)
      x = block->as<BasicBlockImpl>()->forward(x, context);
  return fc(x.mean({2, 3}));
}
