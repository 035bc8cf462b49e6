// Attention with dropout on its probabilities. It runs over padded texts, and is slower than fused
// attention.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/padded.h"

namespace lockstep::dimabsa {

// packed: [N, 3, H, D], queries, keys and values. Returns [N, H, D]. layer: the layer for
// StepContext::dropout.
at::Tensor attention_with_dropout(const at::Tensor& packed, const EncoderInput& input,
                                  const EncoderShape& shape, std::int64_t layer,
                                  const StepContext& context);

// Returns the softmax of scores [S, H, T, T] over the tokens that are not padding, with dropout.
// The dropout of a token is drawn from its row in the global batch and its place in that row. So it
// does not depend on where the text lies in the batch.
at::Tensor attention_probabilities(const at::Tensor& scores, const PaddedTexts& texts,
                                   const EncoderInput& input, const EncoderShape& shape,
                                   std::int64_t layer, const StepContext& context);

}  // namespace lockstep::dimabsa
