#include "recipes/volume/model/tiles.h"

#include "recipes/volume/model/input.h"

#include <ATen/ops/softmax.h>

namespace lockstep::volume {
namespace {

at::Tensor shares(const at::Tensor& logits) {
  const at::Tensor wide = logits.to(at::kFloat);
  return wide.size(1) == 1 ? wide.sigmoid() : at::softmax(wide, 1);
}

}  // namespace

void for_probabilities(const std::vector<const Net*>& nets, const TileOptions& options,
                       const TileInput& input, const SlidingWindows::Write& write) {
  const SlidingWindows windows({.input = {input.extents.begin(), input.extents.end()},
                                .window = {options.window.begin(), options.window.end()},
                                .overlap = options.overlap,
                                .weights = options.weights,
                                .batch = options.batch,
                                .device = options.device,
                                .slabs_on = options.device});
  StepContext context;
  context.training = false;
  context.compute_dtype = options.type;
  context.device = options.device;
  const at::Tensor normals = input.normals.to(options.device);
  const auto predict = [&](const at::Tensor& tiles) {
    const at::Tensor x = normalised(
        tiles, normals.unsqueeze(0).expand({tiles.size(0), normals.size(0), normals.size(1)}));
    at::Tensor sum;
    const int turns = options.flips ? 8 : 1;
    for (const Net* net : nets)
      for (int turn = 0; turn < turns; ++turn) {
        std::vector<std::int64_t> axes;
        for (int axis = 0; axis < 3; ++axis)
          if ((turn >> axis & 1) != 0) axes.push_back(axis + 2);
        const at::Tensor turned = axes.empty() ? x : x.flip(axes);
        at::Tensor found =
            shares(net->logits(network_input(turned, options.type), context).front());
        if (!axes.empty()) found = found.flip(axes);
        sum = sum.defined() ? sum.add_(found) : found;
      }
    const auto count = static_cast<double>(nets.size()) * turns;
    return (count == 1 ? sum : sum.div_(count)).contiguous();
  };
  windows.run(input.read, predict, write);
}

at::Tensor labels_of(const at::Tensor& probabilities, double threshold) {
  const at::Tensor labels = probabilities.size(0) == 1
                                ? probabilities.select(0, 0).gt(threshold).to(at::kByte)
                                : probabilities.argmax(0).to(at::kByte);
  return labels.cpu();
}

}  // namespace lockstep::volume
