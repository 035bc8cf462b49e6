#include "recipes/fewshot/model/net.h"

#include "ops/activation/activation.h"
#include "ops/channel_products/channel_products.h"
#include "ops/linear/linear.h"
#include "ops/pointwise/pointwise.h"
#include "ops/roi_align/roi_align.h"
#include "ops/unit_rows/unit_rows.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <torch/nn/init.h>

#include <cmath>

namespace lockstep::fewshot {
namespace {

namespace nn = torch::nn;

at::Tensor linear(const nn::Linear& layer, const at::Tensor& x) {
  return linear_layer(x, layer->weight, layer->bias);
}

// Adds bias and ReLU after the convolution. ATen's sum for the bias gradient would take as long as
// the convolution.
at::Tensor proposal_map(const nn::Conv2d& proposal, const at::Tensor& maps) {
  const at::Tensor map = at::conv2d(maps, proposal->weight, {}, 1, 1);
  return bias_relu(map.permute({0, 2, 3, 1}), proposal->bias).permute({0, 3, 1, 2});
}

void draw(at::Tensor weight, double deviation) {
  nn::init::normal_(weight, 0, deviation);
  if (weight.dim() == 4) weight.set_data(weight.contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace

DetectorImpl::DetectorImpl(const DetectorShape& shape)
    : shape_(shape),
      trunk(register_module("trunk", Trunk(shape.depth, shape.width))),
      neck(register_module("neck", nn::Conv2d(trunk->channels(), shape.neck, 1))),
      proposal(register_module(
          "proposal", nn::Conv2d(nn::Conv2dOptions(shape.neck, shape.neck, 3).padding(1)))),
      objectness(
          register_module("objectness", nn::Conv2d(shape.neck, shape.anchors_per_cell(), 1))),
      proposal_deltas(register_module("proposal_deltas",
                                      nn::Conv2d(shape.neck, 4 * shape.anchors_per_cell(), 1))),
      // This module was renamed when its columns were reordered, so that older weights do not load.
      hidden(register_module("region_hidden",
                             nn::Linear(shape.neck * pooled_size * pooled_size, shape.hidden))),
      embedding(register_module("embedding", nn::Linear(shape.hidden, shape.embedding))),
      box(register_module("box", nn::Linear(shape.hidden, 4))),
      background(register_parameter("background", at::randn({shape.embedding}))),
      scale(register_parameter("scale", at::full({}, std::log(10.0)))) {
  const auto fan_in = [](const at::Tensor& weight) {
    return std::sqrt(2.0 / static_cast<double>(weight[0].numel()));
  };
  draw(neck->weight, fan_in(neck->weight));
  draw(proposal->weight, fan_in(proposal->weight));
  draw(hidden->weight, fan_in(hidden->weight));
  draw(embedding->weight, fan_in(embedding->weight));
  // Small weights, so that training begins with unchanged boxes and even chances.
  draw(objectness->weight, 0.01);
  draw(proposal_deltas->weight, 0.001);
  draw(box->weight, 0.001);
  for (const auto& named : named_parameters())
    if (named.key().ends_with(".bias") && !named.key().starts_with("trunk."))
      nn::init::zeros_(named.value());
}

at::Tensor DetectorImpl::features(const at::Tensor& x, const StepContext& context,
                                  PictureLayout layout) {
  return pointwise_convolution(trunk->forward(x, context, layout), neck->weight, neck->bias)
      .relu_();
}

DetectorImpl::Embedded DetectorImpl::embed(const at::Tensor& pooled) {
  const at::Tensor rows = pooled.permute({0, 2, 3, 1}).flatten(1);  // a view of channels-last bins
  const auto [embedded, vector] =
      linear_layer_beside(linear(hidden, rows).relu_(), embedding->weight, embedding->bias);
  return {.vectors = unit_rows(embedded), .hidden = vector};
}

ClassCodes DetectorImpl::codes(const at::Tensor& features, const at::Tensor& boxes,
                               std::int64_t classes) {
  const at::Tensor picture = at::arange(boxes.size(0), boxes.options().dtype(at::kLong));
  const at::Tensor pooled =
      // shape [N * K, C, 7, 7]
      roi_align(features, boxes, picture, {.spatial_scale = 1.0 / stride});
  const auto mean_of_class = [&](const at::Tensor& rows) {
    return rows.view({classes, -1, rows.size(1)}).mean(1);
  };
  const at::Tensor kernels = mean_of_class(pooled.mean({2, 3}));
  // Kernels get mean square 1, so that the scale of maps does not depend on the trunk.
  const double length = std::sqrt(static_cast<double>(kernels.size(1)));
  return {.kernels = unit_rows(kernels, {.length = length, .dtype = kernels.scalar_type()}),
          .prototypes = unit_rows(mean_of_class(embed(pooled).vectors))};
}

AnchorOutputs DetectorImpl::anchors(const at::Tensor& features, const ClassCodes& codes) {
  const std::int64_t queries = features.size(0), classes = codes.kernels.size(0);
  const at::Tensor map = proposal_map(proposal, channel_products(features, codes.kernels));
  const auto [changes, objects] =
      pointwise_convolutions(map, {proposal_deltas->weight, objectness->weight},
                             {proposal_deltas->bias, objectness->bias});
  const std::int64_t anchors = objects.size(1), places = map.size(2) * map.size(3);
  // From [Q * N, A, h, w] to [Q, N, h * w, A].
  return {.objectness = objects.permute({0, 2, 3, 1}).reshape({queries, classes, places, anchors}),
          .deltas = changes.permute({0, 2, 3, 1}).reshape({queries, classes, places, anchors, 4})};
}

RegionOutputs DetectorImpl::regions(const at::Tensor& features, const at::Tensor& boxes,
                                    const at::Tensor& picture, const ClassCodes& codes) {
  const Embedded found =
      embed(roi_align(features, boxes, picture, {.spatial_scale = 1.0 / stride}));
  const at::Tensor columns =
      at::cat({codes.prototypes, unit_rows(background.unsqueeze(0))});  // shape [N + 1, E]
  return {.logits = at::matmul(found.vectors, columns.t()).mul(scale.to(at::kFloat).exp()),
          .deltas = linear(box, found.hidden)};
}

}  // namespace lockstep::fewshot
