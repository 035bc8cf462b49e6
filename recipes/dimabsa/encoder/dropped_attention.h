// Attention with dropout on its probabilities. It is slow, and runs over padded texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/padded.h"

namespace lockstep::dimabsa {

// From packed [N, 3, H, D] to [N, H, D]. layer: the number for StepContext::dropout.
at::Tensor attention_with_dropout(const at::Tensor& packed, const EncoderInput& input,
                                  const EncoderShape& shape, std::int64_t layer,
                                  const StepContext& context);

// Softmax of scores [S, H, T, T] over the tokens that are not padding, then dropout. A token's
// dropout is drawn by its row and its place in the row, so it does not depend on where a text lies.
at::Tensor attention_probabilities(const at::Tensor& scores, const PaddedTexts& texts,
                                   const EncoderInput& input, const EncoderShape& shape,
                                   std::int64_t layer, const StepContext& context);

}  // namespace lockstep::dimabsa
