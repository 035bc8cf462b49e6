// Attention with dropout on its probabilities: the slow way, over padded texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/padded.h"

namespace lockstep::dimabsa {

// packed [N, 3, H, D] to [N, H, D]. layer: of StepContext::dropout.
at::Tensor attention_with_dropout(const at::Tensor& packed, const EncoderInput& input,
                                  const EncoderShape& shape, std::int64_t layer,
                                  const StepContext& context);

// Softmax of scores [S, H, T, T] over the tokens that are there, then dropout by each token's row
// and place: the same for a text wherever it lies.
at::Tensor attention_probabilities(const at::Tensor& scores, const PaddedTexts& texts,
                                   const EncoderInput& input, const EncoderShape& shape,
                                   std::int64_t layer, const StepContext& context);

}  // namespace lockstep::dimabsa
