// Computes the cross-entropy of next tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::textgen {

inline constexpr std::int64_t kIgnored = -100;  // target of a position that does not count

// In the functions below, logits are [B,T,V] of any floating dtype, and targets are i64 [B,T] on
// the same device. Targets equal to kIgnored are left out. The functions compute in f32, or in f64
// for f64 logits. They do not synchronise the stream.

// Returns the sum of the cross-entropy over all targets: 0-dim f32, or f64 for f64 logits. The
// result is differentiable in logits.
at::Tensor token_loss(const at::Tensor& logits, const at::Tensor& targets);
// Returns the sum of the cross-entropy over the targets of each row: f64 [B].
at::Tensor row_losses(const at::Tensor& logits, const at::Tensor& targets);
// Returns row_losses() of the logits hidden * weight^T. The result has no gradient. hidden:
// [B,T,W]. weight: [V,W]. Logits are computed for a few rows at a time, so that they take at most
// piece_bytes in f32. The logits of a single row may take more.
at::Tensor linear_row_losses(const at::Tensor& hidden, const at::Tensor& weight,
                             const at::Tensor& targets,
                             std::int64_t piece_bytes = std::int64_t{1} << 30);

}  // namespace lockstep::textgen
