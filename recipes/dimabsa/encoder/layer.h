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
  ThreeTensors qkv_weights, qkv_biases;  // of queries, keys and values
  // only DeBERTa without a shared key has these; else undefined
  Affine position_key, position_query;
  Affine output, output_norm, up, down, norm;

  std::vector<at::Tensor> parameters() const;  // those that are defined
};

// names: the names of the projections to queries, keys and values, as in "query" (BERT) or
// "query_proj" (DeBERTa).
Layer make_layer(Weights& weights, const EncoderShape& shape, std::int64_t index,
                 const std::array<std::string, 3>& names);

// The dropouts of a layer by number. Number 0 is the dropout of the embeddings.
enum class DropoutPlace { attention_output = 1, layer_output, probabilities, relative_positions };
std::int64_t dropout_layer(std::int64_t layer, DropoutPlace place);

// From packed [N, 3, H, D] to [N, H, D].
using Attention = std::function<at::Tensor(const at::Tensor& packed)>;

// x and the result are [N, width].
at::Tensor run_layer(const Layer& layer, std::int64_t index, const EncoderShape& shape,
                     const at::Tensor& x, const at::Tensor& row_offsets, const Attention& attention,
                     const StepContext& context);

}  // namespace lockstep::dimabsa
