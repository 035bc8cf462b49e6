// Attention scores are sums of three terms: content to content, content to position, position to
// content.
#include "recipes/dimabsa/encoder/deberta.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <tuple>

#include "ops/dropout/dropout.h"
#include "ops/embedding/embedding_sum.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "recipes/dimabsa/encoder/dropped_attention.h"
#include "recipes/dimabsa/encoder/relative_positions.h"
#include "recipes/dimabsa/encoder/segments.h"

namespace lockstep::dimabsa {
namespace {

constexpr double summands = 3;  // terms of a score

}  // namespace

Deberta::Deberta(const EncoderShape& shape, std::uint64_t seed) : shape_(shape), weights_(seed) {
  words_ = weights_.table("embeddings.word_embeddings", shape.vocabulary, shape.width);
  if (shape.segments > 0)
    segments_ = weights_.table("embeddings.token_type_embeddings", shape.segments, shape.width);
  norm_ = weights_.norm("embeddings.LayerNorm", shape.width);
  relative_ = weights_.table("encoder.rel_embeddings", 2 * shape.distances(), shape.width);
  if (shape.norm_relative_embeddings)
    relative_norm_ = weights_.norm("encoder.LayerNorm", shape.width);
  for (std::int64_t i = 0; i < shape.layers; ++i)
    layers_.push_back(make_layer(weights_, shape, i, {"query_proj", "key_proj", "value_proj"}));
}

at::Tensor Deberta::embed(const EncoderInput& input, const StepContext& context) const {
  std::vector<Lookup> lookups{{.rows = input.tokens, .table = words_}};
  if (segments_.defined())
    lookups.push_back({.rows = segment_rows(input, shape_.segments), .table = segments_});
  const at::Tensor normed = std::get<1>(residual_layer_norm(
      embedding_sum(lookups), {}, norm_.weight, norm_.bias, shape_.norm_epsilon));
  return context.dropout(normed, input.row_offsets, shape_.dropout, 0);
}

// The table belongs to no row of the batch. So it gets one dropout mask per step, which is the same
// on every rank.
at::Tensor Deberta::table(std::int64_t layer, const at::Tensor& normed,
                          const StepContext& context) const {
  if (!context.training || context.no_dropout || shape_.dropout == 0) return normed;
  const at::Tensor counters =
      at::cat({context.counters.narrow(0, 0, 2), at::zeros_like(context.counters.narrow(0, 2, 1))});
  return dropout(normed.unsqueeze(0), shape_.dropout, counters,
                 dropout_layer(layer, DropoutPlace::relative_positions))
      .squeeze(0);
}

at::Tensor Deberta::attend(const at::Tensor& packed, const at::Tensor& table, std::int64_t layer,
                           const Surroundings& around, const StepContext& context) const {
  const Layer& own = layers_[static_cast<std::size_t>(layer)];
  const bool shared = shape_.share_attention_key;
  // shape [H, 2 * distances, D]
  const auto projected = [&](const at::Tensor& weight, const at::Tensor& bias) {
    return linear_layer(table, weight, bias)
        .view({table.size(0), shape_.heads, packed.size(3)})
        .transpose(0, 1);
  };
  const at::Tensor position_query =
      shared ? projected(own.qkv_weights[0], own.qkv_biases[0])
             : projected(own.position_query.weight, own.position_query.bias);
  const at::Tensor position_key = shared
                                      ? projected(own.qkv_weights[1], own.qkv_biases[1])
                                      : projected(own.position_key.weight, own.position_key.bias);
  const auto parts = around.texts.pad(packed).unbind(2);
  const double scale = 1 / std::sqrt(summands * static_cast<double>(packed.size(3)));
  const at::Tensor query = parts[0].transpose(1, 2).mul(scale), key = parts[1].transpose(1, 2);
  const at::Tensor rows =
      around.rows.unsqueeze(1).expand({query.size(0), query.size(1), query.size(2), query.size(2)});
  const at::Tensor by_position = at::matmul(query, position_key.transpose(1, 2)).gather(-1, rows);
  const at::Tensor from_position = at::matmul(key.mul(scale), position_query.transpose(1, 2))
                                       .gather(-1, rows.transpose(2, 3))
                                       .transpose(2, 3);
  const at::Tensor scores = at::matmul(query, key.transpose(2, 3)) + by_position + from_position;
  const at::Tensor shares =
      attention_probabilities(scores, around.texts, around.input, shape_,
                              dropout_layer(layer, DropoutPlace::probabilities), context);
  return around.texts.unpad(at::matmul(shares, parts[2].transpose(1, 2)).transpose(1, 2));
}

at::Tensor Deberta::forward(const EncoderInput& input, const StepContext& context) {
  const PaddedTexts texts(input.offsets, input.tokens.size(0), input.longest);
  const at::Tensor positions = input.positions.defined() ? input.positions : texts.places();
  const Surroundings around{
      .input = input, .texts = texts, .rows = relative_rows(texts.pad(positions), shape_)};
  const at::Tensor normed =
      relative_norm_.weight.defined()
          ? std::get<1>(residual_layer_norm(relative_, {}, relative_norm_.weight,
                                            relative_norm_.bias, shape_.norm_epsilon))
          : relative_;
  at::Tensor x = embed(input, context);
  for (std::int64_t i = 0; i < shape_.layers; ++i) {
    const Layer& layer = layers_[static_cast<std::size_t>(i)];
    const auto block = [this, &layer, i, around, context](const std::vector<at::Tensor>& inputs) {
      const at::Tensor relative = table(i, inputs[1], context);
      const auto attention = [&](const at::Tensor& packed) {
        return attend(packed, relative, i, around, context);
      };
      return std::vector{
          run_layer(layer, i, shape_, inputs[0], around.input.row_offsets, attention, context)};
    };
    x = context.block(i, block, {x, normed}, layer.parameters())[0];
  }
  return x;
}

}  // namespace lockstep::dimabsa
