// Causal self-attention over heads.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::textgen {

// query [B,h,t,d]; key, value [B,h,n,d] with n >= t. Query i stands at position n - t + i and
// attends to all positions up to its own. Returns [B,h,t,d].
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value);

// The same for n == t, with dropout on the probabilities, which are kept for the backward pass.
// This is slower: fused attention cannot be used, because it cannot draw its mask from a sample's
// row in the global batch.
at::Tensor causal_attention_with_dropout(const at::Tensor& query, const at::Tensor& key,
                                         const at::Tensor& value, double p, std::int64_t layer,
                                         const StepContext& context);

}  // namespace lockstep::textgen
