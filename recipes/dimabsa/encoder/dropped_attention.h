// Attention with dropout on its probabilities. It pads texts to equal length, and is slower than
// fused attention.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/padded.h"

namespace lockstep::dimabsa {

// packed: [N, 3, H, D], the queries, keys and values of N tokens, H heads and D elements per head.
// Returns [N, H, D]. layer: the argument `layer` for StepContext::dropout.
at::Tensor attention_with_dropout(const at::Tensor& packed, const EncoderInput& input,
                                  const EncoderShape& shape, std::int64_t layer,
                                  const StepContext& context);

// Returns the softmax of scores [S, H, T, T] over the keys that are not padding, with dropout. The
// dropout mask of a token depends on its row in the global batch and on its position in that row.
// So it does not depend on where the text lies in the micro-batch.
at::Tensor attention_probabilities(const at::Tensor& scores, const PaddedTexts& texts,
                                   const EncoderInput& input, const EncoderShape& shape,
                                   std::int64_t layer, const StepContext& context);

}  // namespace lockstep::dimabsa
