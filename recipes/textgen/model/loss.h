// Cross-entropy of next tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::textgen {

inline constexpr std::int64_t kIgnored = -100;  // the target of a position that is left out

// logits: [B,T,V] of any floating dtype. targets: i64 [B,T]; those of kIgnored are left out. Both
// are on one device. Neither function synchronises the stream; both compute in f32 (f64 for f64
// logits).

// The sum over all targets that are not ignored, 0-dim f32 (f64); differentiable in logits.
at::Tensor token_loss(const at::Tensor& logits, const at::Tensor& targets);
// The sum over each row's targets, f64 [B].
at::Tensor row_losses(const at::Tensor& logits, const at::Tensor& targets);
// row_losses of the logits hidden weight^T, with hidden [B,T,W] and weight [V,W]. Computes a few
// rows at a time, so that f32 logits of at most piece_bytes exist at once. Without gradients.
at::Tensor linear_row_losses(const at::Tensor& hidden, const at::Tensor& weight,
                             const at::Tensor& targets,
                             std::int64_t piece_bytes = std::int64_t{1} << 30);

}  // namespace lockstep::textgen
