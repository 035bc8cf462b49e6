// A post-norm transformer layer, which BERT, XLM-R and DeBERTa share.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ops/linear/joined_linear.h"
#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/weights.h"

namespace lockstep::dimabsa {

struct Layer {
  ThreeTensors qkv_weights, qkv_biases;  // in the order: queries, keys, values
  // only for DeBERTa with share_attention_key = false; else undefined
  Affine position_key, position_query;
  Affine output, output_norm, up, down, norm;

  std::vector<at::Tensor> parameters() const;  // all tensors that are defined
};

// Makes the parameters of layer `index`. names: the names of the projections to queries, keys and
// values. For example, the first name is "query" for BERT and "query_proj" for DeBERTa.
Layer make_layer(Weights& weights, const EncoderShape& shape, std::int64_t index,
                 const std::array<std::string, 3>& names);

// The places in a layer where dropout is applied. StepContext::dropout needs a different number for
// each dropout of a model, as its argument `layer`. dropout_layer() returns this number for a place
// in a layer. The dropout after the embeddings has the number 0.
enum class DropoutPlace { attention_output = 1, layer_output, probabilities, relative_positions };
std::int64_t dropout_layer(std::int64_t layer, DropoutPlace place);

// packed: [N, 3, H, D], queries, keys and values. Returns [N, H, D].
using Attention = std::function<at::Tensor(const at::Tensor& packed)>;

// Runs layer `index`. `attention` computes its attention. x and the result are [N, width].
// row_offsets: those of the micro-batch (encoder.h).
at::Tensor run_layer(const Layer& layer, std::int64_t index, const EncoderShape& shape,
                     const at::Tensor& x, const at::Tensor& row_offsets, const Attention& attention,
                     const StepContext& context);

}  // namespace lockstep::dimabsa
