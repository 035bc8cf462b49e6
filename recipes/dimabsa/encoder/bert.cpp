// BERT and XLM-R on packed texts without padding.
#include "recipes/dimabsa/encoder/bert.h"

#include <tuple>

#include "ops/attention/attention.h"
#include "ops/embedding/embedding_sum.h"
#include "ops/layer_norm/layer_norm.h"
#include "recipes/dimabsa/encoder/dropped_attention.h"
#include "recipes/dimabsa/encoder/padded.h"
#include "recipes/dimabsa/encoder/segments.h"

namespace lockstep::dimabsa {

Bert::Bert(const EncoderShape& shape, std::uint64_t seed) : shape_(shape), weights_(seed) {
  words_ = weights_.table("embeddings.word_embeddings", shape.vocabulary, shape.width);
  positions_ = weights_.table("embeddings.position_embeddings", shape.positions, shape.width);
  if (shape.segments > 0)
    segments_ = weights_.table("embeddings.token_type_embeddings", shape.segments, shape.width);
  norm_ = weights_.norm("embeddings.LayerNorm", shape.width);
  for (std::int64_t i = 0; i < shape.layers; ++i)
    layers_.push_back(make_layer(weights_, shape, i, {"query", "key", "value"}));
}

at::Tensor Bert::embed(const EncoderInput& input, const StepContext& context) const {
  const at::Tensor places = input.positions.defined()
                                ? input.positions
                                : places_in_texts(input.offsets, input.tokens.size(0));
  std::vector<Lookup> lookups{{.rows = input.tokens, .table = words_}};
  if (segments_.defined())
    lookups.push_back({.rows = segment_rows(input, shape_.segments), .table = segments_});
  lookups.push_back(
      {.rows = shape_.first_position == 0 ? places : places.add(shape_.first_position),
       .table = positions_});
  const at::Tensor normed = std::get<1>(residual_layer_norm(
      embedding_sum(lookups), {}, norm_.weight, norm_.bias, shape_.norm_epsilon));
  return context.dropout(normed, input.row_offsets, shape_.dropout, 0);
}

at::Tensor Bert::attend(const at::Tensor& packed, const EncoderInput& input, std::int64_t layer,
                        const StepContext& context) const {
  if (context.training && !context.no_dropout && shape_.attention_dropout > 0)
    return attention_with_dropout(packed, input, shape_,
                                  dropout_layer(layer, DropoutPlace::probabilities), context);
  return ragged_attention(packed, input.offsets, input.longest, Sees::all, Behind::nothing);
}

at::Tensor Bert::forward(const EncoderInput& given, const StepContext& context) {
  at::Tensor x = embed(given, context);
  EncoderInput input = given;
  // converted once for all layers
  if (!input.offsets.is_cpu()) input.offsets = input.offsets.to(at::kInt);
  for (std::int64_t i = 0; i < shape_.layers; ++i) {
    const Layer& layer = layers_[static_cast<std::size_t>(i)];
    const auto block = [this, &layer, i, input, context](const std::vector<at::Tensor>& inputs) {
      const auto attention = [&](const at::Tensor& packed) {
        return attend(packed, input, i, context);
      };
      return std::vector{
          run_layer(layer, i, shape_, inputs[0], input.row_offsets, attention, context)};
    };
    x = context.block(i, block, {x}, layer.parameters())[0];
  }
  return x;
}

}  // namespace lockstep::dimabsa
