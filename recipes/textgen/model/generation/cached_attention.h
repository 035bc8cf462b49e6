// Causal self-attention with several heads, for training, and for generation with a cache of keys
// and values.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::textgen {

// query: [B,h,t,d], for batch B, h heads, t positions and d elements per head. key, value:
// [B,h,n,d] with n >= t. Query i has position n - t + i. It attends to all positions up to its own.
// Returns [B,h,t,d].
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value);

// Computes the same for n == t, with dropout on the probabilities. It is slower, and keeps the
// probabilities for the backward pass. It cannot use fused attention, because the dropout mask of a
// sample must depend on the sample's row in the global batch. layer: the argument of
// StepContext::dropout.
at::Tensor causal_attention_with_dropout(const at::Tensor& query, const at::Tensor& key,
                                         const at::Tensor& value, double p, std::int64_t layer,
                                         const StepContext& context);

}  // namespace lockstep::textgen
