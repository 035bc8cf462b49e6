#include "recipes/fewshot/model/trunk.h"

#include "core/base/check.h"
#include "ops/block_convolution/block_convolution.h"
#include "ops/convolution/convolution.h"
#include "ops/pointwise/pointwise.h"

#include <torch/nn/init.h>

#include <array>
#include <memory>
#include <tuple>

namespace lockstep::fewshot {
namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

at::Tensor convolved(const at::Tensor& x, const nn::Conv2d& by) {
  const std::int64_t stride = by->options.stride()->at(0), padding = by->weight.size(2) / 2;
  return lockstep::convolution(x, by->weight, {}, {.stride = {stride}, .padding = {padding}});
}

// A basic block has two 3x3 convolutions. A bottleneck block has 1x1, 3x3 and 1x1 convolutions, and
// its output is four times as wide. The 3x3 convolution has the stride, as in torchvision.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t width, std::int64_t stride, bool bottleneck)
      : bottleneck_(bottleneck) {
    const std::int64_t out = bottleneck ? 4 * width : width;
    conv1 = register_module(
        "conv1", bottleneck ? convolution(in, width, 1, 1) : convolution(in, width, 3, stride));
    bn1 = register_module("bn1", BatchNorm(width));
    conv2 = register_module("conv2", convolution(width, width, 3, bottleneck ? stride : 1));
    bn2 = register_module("bn2", BatchNorm(width));
    if (bottleneck) {
      conv3 = register_module("conv3", convolution(width, out, 1, 1));
      bn3 = register_module("bn3", BatchNorm(out));
    }
    if (stride == 1 && in == out) return;
    downsample = register_module("downsample", nn::ModuleList());
    downsample->push_back(convolution(in, out, 1, stride));
    downsample->push_back(BatchNorm(out));
  }

  at::Tensor forward(const at::Tensor& x, const StepContext& context) {
    auto [y, through] = bottleneck_ ? pointwise_convolution_beside(x, conv1->weight)
                                    : std::tuple(convolved(x, conv1), x);
    y = bn1->forward(y, context, {.relu = true});
    AfterNorm end{.skip = through, .relu = true};
    KnownMoments known;
    const bool asks = context.wants_moments();
    if (downsample) {
      end.skip = shortcut(through, asks ? &known.skip : nullptr);
      end.skip_norm = downsample->at<BatchNormImpl>(1).state();
    }
    y = convolved(y, conv2);
    if (!bottleneck_) return bn2->forward(y, context, end);
    y = bn2->forward(y, context, {.relu = true});
    y = pointwise_convolution(y, conv3->weight, {}, asks ? &known.x : nullptr);
    return bn3->forward(y, context, end, known);
  }

 private:
  // The shortcut's convolution, without its norm.
  at::Tensor shortcut(const at::Tensor& x, ChannelMoments* moments) {
    const nn::Conv2d by(downsample->ptr<nn::Conv2dImpl>(0));
    return by->options.stride()->at(0) == 1 ? pointwise_convolution(x, by->weight, {}, moments)
                                            : convolved(x, by);
  }

  bool bottleneck_;
  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  BatchNorm bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  nn::ModuleList downsample{nullptr};  // a convolution and a norm, if the shape changes
};

struct Plan {
  bool bottleneck;
  std::array<std::int64_t, 3> blocks;  // the number of blocks in each stage
};

Plan plan_of(std::int64_t depth) {
  switch (depth) {
    case 18:
      return {false, {2, 2, 2}};
    case 34:
      return {false, {3, 4, 6}};
    case 50:
      return {true, {3, 4, 6}};
    default:
      LOCKSTEP_CHECK(depth == 101);
      return {true, {3, 4, 23}};
  }
}

nn::ModuleList stage(const Plan& plan, int number, std::int64_t width) {
  const std::int64_t factor = plan.bottleneck ? 4 : 1;
  const std::int64_t out = width << number;
  nn::ModuleList blocks;
  for (std::int64_t i = 0; i < plan.blocks.at(static_cast<std::size_t>(number)); ++i) {
    const std::int64_t in = i > 0 ? factor * out : number == 0 ? width : factor * out / 2;
    blocks->push_back(
        std::make_shared<BlockImpl>(in, out, i == 0 && number > 0 ? 2 : 1, plan.bottleneck));
  }
  return blocks;
}

}  // namespace

TrunkImpl::TrunkImpl(std::int64_t depth, std::int64_t width)
    : channels_((plan_of(depth).bottleneck ? 16 : 4) * width),
      conv1(register_module("conv1", convolution(3, width, 7, 2))),
      bn1(register_module("bn1", BatchNorm(width))),
      layer1(register_module("layer1", stage(plan_of(depth), 0, width))),
      layer2(register_module("layer2", stage(plan_of(depth), 1, width))),
      layer3(register_module("layer3", stage(plan_of(depth), 2, width))) {
  for (at::Tensor& weight : parameters())
    if (weight.dim() == 4) {
      nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
      weight.set_data(weight.contiguous(at::MemoryFormat::ChannelsLast));
    }
}

at::Tensor TrunkImpl::forward(const at::Tensor& x, const StepContext& context,
                              PictureLayout layout) {
  // The context is copied, because recomputed blocks still need it in backward.
  const auto held = std::make_shared<const StepContext>(context);
  const auto stem = [this, held, layout](const std::vector<at::Tensor>& in) {
    KnownMoments known;
    ChannelMoments* const told = held->wants_moments() ? &known.x : nullptr;
    const at::Tensor y = layout == PictureLayout::blocks
                             ? block_convolution(in[0], conv1->weight, {}, told)
                             : conv1(in[0]);
    constexpr MaxPool pool{.window = 3, .stride = 2, .padding = 1};
    return std::vector<at::Tensor>{bn1->forward(y, *held, {.relu = true, .pool = pool}, known)};
  };
  std::int64_t number = 0;
  std::vector<at::Tensor> y =
      context.block(number++, stem, {x}, {conv1->weight, bn1->weight, bn1->bias});
  for (const nn::ModuleList& layer : {layer1, layer2, layer3})
    for (const std::shared_ptr<nn::Module>& each : *layer) {
      const auto block = [each, held](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{each->as<BlockImpl>()->forward(in[0], *held)};
      };
      y = context.block(number++, block, y, each->parameters());
    }
  return y[0];
}

}  // namespace lockstep::fewshot
