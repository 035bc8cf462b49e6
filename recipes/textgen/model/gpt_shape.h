// The shape of a GPT: all settings on which its weights and its forward pass depend.
#pragma once

#include <cstdint>

namespace lockstep::textgen {

struct GptShape {
  std::int64_t vocab = 256;
  std::int64_t width = 384;  // a multiple of heads
  std::int64_t layers = 6;
  std::int64_t heads = 6;
  std::int64_t feed_forward = 1536;
  std::int64_t context = 256;    // in tokens; also the number of learned positions
  bool bias = true;              // whether linear layers and norms have biases
  bool tanh_gelu = true;         // whether GELU uses tanh; false = the exact GELU with erf
  bool tied = true;              // whether the output matrix is the embedding
  double dropout = 0;            // after the embedding and at the end of each residual branch
  double attention_dropout = 0;  // on attention probabilities; above 0, attention is slower
  double init_std = 0.02;
};

// Returns the number of trained values. A matrix that is both embedding and output matrix is
// counted once.
constexpr std::int64_t parameter_count(const GptShape& shape) {
  const std::int64_t w = shape.width, f = shape.feed_forward;
  const std::int64_t norm = shape.bias ? 2 * w : w;
  const std::int64_t matrices = 3 * w * w + w * w + 2 * w * f;
  const std::int64_t biases = shape.bias ? 3 * w + w + f + w : 0;
  return shape.vocab * w * (shape.tied ? 1 : 2) + shape.context * w +
         shape.layers * (2 * norm + matrices + biases) + norm;
}

}  // namespace lockstep::textgen
