// Attention and feed-forward, each followed by dropout, residual sum and layer norm.
#include "recipes/dimabsa/encoder/layer.h"

#include <tuple>

#include "core/base/text/text.h"
#include "ops/activation/activation.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::int64_t dropouts_of_a_layer = 4;

}  // namespace

std::vector<at::Tensor> Layer::parameters() const {
  std::vector<at::Tensor> all(qkv_weights.begin(), qkv_weights.end());
  all.insert(all.end(), qkv_biases.begin(), qkv_biases.end());
  for (const Affine* affine :
       {&position_key, &position_query, &output, &output_norm, &up, &down, &norm})
    if (affine->weight.defined()) all.insert(all.end(), {affine->weight, affine->bias});
  return all;
}

Layer make_layer(Weights& weights, const EncoderShape& shape, std::int64_t index,
                 const std::array<std::string, 3>& names) {
  const std::int64_t width = shape.width;
  const std::string name = cat("encoder.layer.", index, ".");
  const std::string attention = name + "attention.self.";
  Layer layer;
  // Values are registered first and queries last, because the storage reverses the order. Queries,
  // keys and values are then contiguous in memory.
  for (std::size_t i = 3; i-- > 0;)
    layer.qkv_weights[i] = weights.matrix(attention + names[i], width, width);
  for (std::size_t i = 3; i-- > 0;) layer.qkv_biases[i] = weights.bias(attention + names[i], width);
  if (shape.family == EncoderFamily::deberta_v2 && !shape.share_attention_key) {
    layer.position_key = weights.linear(attention + "pos_key_proj", width, width);
    layer.position_query = weights.linear(attention + "pos_query_proj", width, width);
  }
  layer.output = weights.linear(name + "attention.output.dense", width, width);
  layer.output_norm = weights.norm(name + "attention.output.LayerNorm", width);
  layer.up = weights.linear(name + "intermediate.dense", shape.feed_forward, width);
  layer.down = weights.linear(name + "output.dense", width, shape.feed_forward);
  layer.norm = weights.norm(name + "output.LayerNorm", width);
  return layer;
}

std::int64_t dropout_layer(std::int64_t layer, DropoutPlace place) {
  return dropouts_of_a_layer * layer + static_cast<std::int64_t>(place);
}

std::int64_t encoder_dropout_layers(const EncoderShape& shape) {
  return dropouts_of_a_layer * shape.layers + 1;
}

at::Tensor run_layer(const Layer& layer, std::int64_t index, const EncoderShape& shape,
                     const at::Tensor& x, const at::Tensor& row_offsets, const Attention& attention,
                     const StepContext& context) {
  const auto add_and_normalize = [&](const at::Tensor& to, const at::Tensor& branch,
                                     const Affine& norm, DropoutPlace place) {
    return std::get<1>(residual_layer_norm(
        to, branch, norm.weight, norm.bias, shape.norm_epsilon,
        context.dropout_draw(row_offsets, shape.dropout, dropout_layer(index, place))));
  };
  const auto [qkv, past_attention] = joined_linear_beside(x, layer.qkv_weights, layer.qkv_biases);
  const at::Tensor packed = qkv.view({x.size(0), 3, shape.heads, shape.width / shape.heads});
  const at::Tensor mixed = attention(packed).reshape({x.size(0), shape.width});
  const at::Tensor attended = linear_layer(mixed, layer.output.weight, layer.output.bias);
  const at::Tensor middle = add_and_normalize(past_attention, attended, layer.output_norm,
                                              DropoutPlace::attention_output);
  const auto [up, past_feed_forward] = linear_layer_beside(middle, layer.up.weight);
  const at::Tensor active = bias_gelu(up, layer.up.bias, shape.gelu_tanh);
  const at::Tensor down = linear_layer(active, layer.down.weight, layer.down.bias);
  return add_and_normalize(past_feed_forward, down, layer.norm, DropoutPlace::layer_output);
}

}  // namespace lockstep::dimabsa
