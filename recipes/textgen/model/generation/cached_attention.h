// Causal self-attention of several heads, for training and for generation with a cache.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::textgen {

// query: [B,h,t,d]. key, value: [B,h,n,d] with n >= t. Query i has position n - t + i. It attends
// to all positions up to its own. Returns [B,h,t,d].
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value);

// The same for n == t, with dropout on the probabilities. This is slower and keeps the
// probabilities for the backward pass. Fused attention cannot be used, because the dropout mask of
// a sample must depend on the sample's row in the global batch.
at::Tensor causal_attention_with_dropout(const at::Tensor& query, const at::Tensor& key,
                                         const at::Tensor& value, double p, std::int64_t layer,
                                         const StepContext& context);

}  // namespace lockstep::textgen
