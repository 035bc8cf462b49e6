#include "recipes/volume/model/tiles.h"

#include "recipes/volume/model/input.h"
#include "training/recipe/item_progress.h"

#include <ATen/ops/softmax.h>

#include <algorithm>

namespace lockstep::volume {
namespace {

at::Tensor shares(const at::Tensor& logits) {
  const at::Tensor wide = logits.to(at::kFloat);
  return wide.size(1) == 1 ? wide.sigmoid() : at::softmax(wide, 1);
}

SlidingWindows windows_over(const TileOptions& options, const Triple& extents) {
  return SlidingWindows({.input = {extents.begin(), extents.end()},
                         .window = {options.window.begin(), options.window.end()},
                         .overlap = options.overlap,
                         .weights = options.weights,
                         .batch = options.batch,
                         .device = options.device,
                         .slabs_on = options.device});
}

}  // namespace

RowRange planes_of_piece(const TileOptions& options, const Triple& extents, std::int64_t index,
                         std::int64_t count) {
  return windows_over(options, extents).part(index, count);
}

void for_probabilities(const std::vector<TiledNet>& nets, const TileOptions& options,
                       const TileInput& input, const SlidingWindows::Write& write) {
  StepContext context;
  context.training = false;
  context.compute_dtype = options.type;
  context.device = options.device;
  std::vector<at::Tensor> normals;
  for (const TiledNet& net : nets) normals.push_back(net.normals.to(options.device).unsqueeze(0));
  const int turns = options.flips ? 8 : 1;
  const SlidingWindows windows = windows_over(options, input.extents);
  const auto count = static_cast<double>(nets.size()) * turns;  // number of passes over a tile
  const std::int64_t tiles_in_all = windows.count(input.rows);
  std::int64_t tiles_done = 0;
  const auto predict = [&](const at::Tensor& tiles) {
    const std::int64_t here = std::min(tiles.size(0), tiles_in_all - tiles_done);
    double passes = 0;
    at::Tensor sum;
    for (std::size_t i = 0; i < nets.size(); ++i) {
      const at::Tensor x = normalised(tiles, normals[i].expand({tiles.size(0), -1, -1}));
      for (int turn = 0; turn < turns; ++turn) {
        std::vector<std::int64_t> axes;
        for (int axis = 0; axis < 3; ++axis)
          if ((turn >> axis & 1) != 0) axes.push_back(axis + 2);
        const at::Tensor turned = axes.empty() ? x : x.flip(axes);
        at::Tensor found =
            shares(nets[i].net->logits(network_input(turned, options.type), context).front());
        if (!axes.empty()) found = found.flip(axes);
        sum = sum.defined() ? sum.add_(found) : found;
        report_item_progress(
            static_cast<double>(tiles_done) + static_cast<double>(here) * ++passes / count,
            static_cast<double>(tiles_in_all), "tiles");
      }
    }
    tiles_done += here;
    return (count == 1 ? sum : sum.div_(count)).contiguous();
  };
  windows.run(input.rows, input.read, predict, write);
}

at::Tensor labels_of(const at::Tensor& probabilities, double threshold) {
  const at::Tensor labels = probabilities.size(0) == 1
                                ? probabilities.select(0, 0).gt(threshold).to(at::kByte)
                                : probabilities.argmax(0).to(at::kByte);
  return labels.cpu();
}

}  // namespace lockstep::volume
