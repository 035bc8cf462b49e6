// Losses of a mask with one logit per place: Dice, focal and binary cross-entropy in one pass.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

#include <array>

namespace lockstep {

struct MaskLossOptions {
  int ignore = -1;  // places with this target do not count; -1: all count
  double smooth = 1;
  double focal_alpha = 0.25, focal_gamma = 2;  // gamma at least 0
};

// logits: [B, 1, *spatial], floating. target: u8 [B, *spatial] on the same device: 0 for
// background, `ignore` for places that do not count, all else foreground. row_weight: f32 [B]. With
// p = sigmoid(logit), y = 1 in the foreground and 0 elsewhere, and sums over the places of a row
// that count, returns three sums over rows, each row times its weight, f32 and 0-dim:
//   dice:  1 - (2 * sum(p y) + smooth) / (sum(p) + sum(y) + smooth)
//   focal: sum(alpha_t (1 - p_t)^gamma bce)  (Lin and others, 2017)
//   bce:   sum(bce), bce = -log p_t
// In the foreground p_t is p and alpha_t is alpha. Elsewhere they are 1 - p and 1 - alpha. dice is
// 0 for rows in which no place counts. Computed in f32 (f64 for logits of f64), in a fixed
// order. Places that do not count have no gradient, whatever their logit holds. Differentiable in
// logits, and second derivatives use ATen's operators. Throws Error for other shapes and types.
std::array<at::Tensor, 3> mask_loss(const at::Tensor& logits, const at::Tensor& target,
                                    const at::Tensor& row_weight,
                                    const MaskLossOptions& options = {});

// The same in ATen's operators, on any device.
std::array<at::Tensor, 3> mask_loss_reference(const at::Tensor& logits, const at::Tensor& target,
                                              const at::Tensor& row_weight,
                                              const MaskLossOptions& options = {});

struct MaskLossKernels {
  void (*forward)(const MaskLossForward&) = nullptr;  // runs on the current stream
  void (*backward)(const MaskLossBackward&) = nullptr;
};
void register_cuda_mask_loss(MaskLossKernels kernels);

}  // namespace lockstep
