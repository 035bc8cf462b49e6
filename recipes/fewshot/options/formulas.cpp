// Formulas for parameters, memory and FLOPs. They need only the options.
#include <algorithm>
#include <array>
#include <cmath>

#include "planning/memory/memory.h"
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {
namespace {

constexpr double pooled = 49;  // the number of cells after pooling a region

// A convolution of the trunk: its weights, output channels and stride. The output's edge is
// 1/stride of the picture's edge.
struct Layer {
  double weights = 0, channels = 0, stride = 1;
  bool ends_block = false;  // whether its normalized result is a block's output (Trunk::forward)
};

// All convolutions of the trunk, in order.
std::vector<Layer> trunk_layers(const DetectorShape& shape) {
  const bool bottleneck = shape.depth >= 50;
  std::array<std::int64_t, 3> blocks{3, 4, 6};
  if (shape.depth == 18) blocks = {2, 2, 2};
  if (shape.depth == 101) blocks = {3, 4, 23};
  const auto width = static_cast<double>(shape.width);
  std::vector<Layer> layers{
      {.weights = 3 * 49 * width, .channels = width, .stride = 2, .ends_block = true}};
  double in = width, stride = 4;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const double inner = std::ldexp(width, static_cast<int>(stage));
    const double out = bottleneck ? 4 * inner : inner;
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      const bool halves = block == 0 && stage > 0;
      const double before = stride;
      if (halves) stride *= 2;
      if (bottleneck) {
        layers.push_back({in * inner, inner, before});
        layers.push_back({9 * inner * inner, inner, stride});
        layers.push_back({inner * out, out, stride, true});
      } else {
        layers.push_back({9 * in * inner, inner, stride});
        layers.push_back({9 * inner * inner, inner, stride, true});
      }
      if (halves || in != out) layers.push_back({in * out, out, stride});
      in = out;
    }
  }
  return layers;
}

// The weights of the layers after the trunk.
struct Head {
  double neck, proposal, outputs, region;
};
Head head_of(const DetectorShape& shape) {
  const auto neck = static_cast<double>(shape.neck), hidden = static_cast<double>(shape.hidden),
             embedding = static_cast<double>(shape.embedding),
             per_cell = static_cast<double>(shape.anchors_per_cell());
  return {.neck = static_cast<double>(shape.trunk_channels()) * neck,
          .proposal = 9 * neck * neck,
          .outputs = 5 * per_cell * neck,
          .region = pooled * neck * hidden + hidden * embedding + 4 * hidden};
}

double cells(double size, double stride) {
  const double edge = std::ceil(size / stride);
  return edge * edge;
}

// The sizes of an episode that the formulas use.
struct EpisodeSizes {
  double classes, supports, queries, support_size, size, regions;
};
EpisodeSizes sizes_of(const FewshotOptions& options) {
  const auto classes = static_cast<double>(options.episode.n_way == 0 ? 5 : options.episode.n_way);
  const auto queries = static_cast<double>(options.episode.queries);
  constexpr double true_boxes = 32;  // true boxes of a query that are added to its proposals
  return {.classes = classes,
          .supports = classes * static_cast<double>(options.episode.k_shot),
          .queries = queries,
          .support_size = static_cast<double>(options.support_size()),
          .size = static_cast<double>(options.episode.size),
          .regions = queries * (static_cast<double>(options.model.regions) + true_boxes)};
}

// The number of multiplications in one forward pass of an episode.
double products_of(const DetectorShape& shape, const EpisodeSizes& sizes) {
  double products = 0;
  for (const Layer& layer : trunk_layers(shape))
    products += layer.weights * (sizes.supports * cells(sizes.support_size, layer.stride) +
                                 sizes.queries * cells(sizes.size, layer.stride));
  const Head head = head_of(shape);
  products += head.neck * (sizes.supports * cells(sizes.support_size, 16) +
                           sizes.queries * cells(sizes.size, 16));
  products +=
      (head.proposal + head.outputs) * sizes.queries * sizes.classes * cells(sizes.size, 16);
  products += head.region * (sizes.regions + sizes.supports);
  return products;
}

}  // namespace

std::int64_t parameter_count(const DetectorShape& shape) {
  double count = 0;
  for (const Layer& layer : trunk_layers(shape)) count += layer.weights + 2 * layer.channels;
  const Head head = head_of(shape);
  const auto biases = static_cast<double>(2 * shape.neck + 5 * shape.anchors_per_cell() +
                                          shape.hidden + shape.embedding + 4);
  count += head.neck + head.proposal + head.outputs + head.region + biases;
  return static_cast<std::int64_t>(count) + shape.embedding + 1;
}

// Activations are the sum of the following parts. Each convolution of the trunk keeps its result
// and the normalized result, in the computing type. With activation recomputation, a block keeps
// its input instead, which is about as large as its output. The attended maps and two more maps are
// kept per class. Regions are kept three times: pooled, hidden and gradient. A few f32 numbers are
// kept per anchor and class.
MemoryEstimate FewshotOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const DetectorShape shape = detector();
  const EpisodeSizes sizes = sizes_of(*this);
  const double element = train.precision == Precision::fp32 ? 4 : 2;
  double values = 0, widest = 0, between = 0, blocks = 0;
  for (const Layer& layer : trunk_layers(shape)) {
    const double layer_values =
        layer.channels * (sizes.supports * cells(sizes.support_size, layer.stride) +
                          sizes.queries * cells(sizes.size, layer.stride));
    values += 2 * layer_values;
    widest = std::max(widest, layer_values);
    if (!layer.ends_block) continue;
    between += layer_values;
    ++blocks;
  }
  const double of_trunk = values;
  const double map = sizes.queries * sizes.classes * cells(sizes.size, 16);
  values += 3 * map * static_cast<double>(shape.neck);
  values += 3 * (sizes.regions + sizes.supports) * pooled * static_cast<double>(shape.neck);
  const double anchor_numbers = 4.0 * 24 * map * static_cast<double>(shape.anchors_per_cell());
  const double pictures = 3 * (sizes.supports * sizes.support_size * sizes.support_size +
                               sizes.queries * sizes.size * sizes.size);
  const double optimizer = optimizer_bytes_per_parameter(train);
  const auto parameters =
      static_cast<double>(facts.parameters != 0 ? facts.parameters : parameter_count(shape));
  constexpr double workspaces = 512.0 * 1024 * 1024;  // workspaces of cuDNN
  return {.fixed_bytes = parameters * (weight_bytes_per_parameter(train) + optimizer) + workspaces,
          .per_sample_bytes = element * values + anchor_numbers + 9 * pictures,
          .optimizer_bytes = parameters * optimizer,
          .blocks = static_cast<std::int64_t>(blocks),
          .block_bytes = element * of_trunk / blocks,
          .recomputed_block_bytes = element * between / blocks,
          .backward_bytes = 3 * element * widest};
}

// A multiplication counts 6 FLOPs: 2 forward and 4 backward.
std::optional<double> FewshotOptions::flops_per_sample(const Facts&) const {
  return 6 * products_of(detector(), sizes_of(*this));
}

double FewshotOptions::passes_of_evaluation(std::int64_t shots) const {
  const EpisodeSizes training = sizes_of(*this);
  EpisodeSizes sizes = training;
  sizes.supports = sizes.classes * static_cast<double>(shots);
  if (evaluate.queries > 0) sizes.queries = static_cast<double>(evaluate.queries);
  sizes.regions = sizes.queries * static_cast<double>(predict.regions);
  return products_of(detector(), sizes) / products_of(detector(), training);
}

}  // namespace lockstep::fewshot
