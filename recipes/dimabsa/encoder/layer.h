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
  // only for DeBERTa with share_attention_key = false; else undefined
  Affine position_key, position_query;
  Affine output, output_norm, up, down, norm;

  std::vector<at::Tensor> parameters() const;  // all that are defined
};

// names: the names of the projections to queries, keys and values. The first is "query" for BERT
// and "query_proj" for DeBERTa, for example.
Layer make_layer(Weights& weights, const EncoderShape& shape, std::int64_t index,
                 const std::array<std::string, 3>& names);

// The dropouts of a layer. dropout_layer() returns the value of `layer` for StepContext::dropout.
// The value 0 belongs to the embeddings.
enum class DropoutPlace { attention_output = 1, layer_output, probabilities, relative_positions };
std::int64_t dropout_layer(std::int64_t layer, DropoutPlace place);

// packed: [N, 3, H, D], queries, keys and values. Returns [N, H, D].
using Attention = std::function<at::Tensor(const at::Tensor& packed)>;

// Runs layer `index`. x and the result are [N, width].
at::Tensor run_layer(const Layer& layer, std::int64_t index, const EncoderShape& shape,
                     const at::Tensor& x, const at::Tensor& row_offsets, const Attention& attention,
                     const StepContext& context);

}  // namespace lockstep::dimabsa
