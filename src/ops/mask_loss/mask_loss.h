// Computes the losses of a segmentation mask with one logit per spatial position: Dice, focal and
// binary cross-entropy in one pass.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

#include <array>

namespace lockstep {

struct MaskLossOptions {
  int ignore = -1;  // positions with this target are ignored; -1 ignores none
  double smooth = 1;
  double focal_alpha = 0.25, focal_gamma = 2;  // focal_gamma is at least 0
};

// Returns three losses, 0-dim f32 (f64 for logits of f64). Each is the sum over rows of the row's
// loss times the row's weight.
//   logits       [B, 1, *spatial], floating
//   target       u8 [B, *spatial] on the same device: 0 is background, `ignore` is ignored,
//                and all other values are foreground
//   row_weight   f32 [B]
// In a row, p = sigmoid(logit), and y = 1 in the foreground and 0 elsewhere. In the foreground p_t
// is p and alpha_t is alpha. Elsewhere p_t is 1 - p and alpha_t is 1 - alpha. The sums in these
// losses of a row are over positions that are not ignored:
//   dice:  1 - (2 * sum(p y) + smooth) / (sum(p) + sum(y) + smooth)
//   focal: sum(alpha_t (1 - p_t)^gamma bce)  (Lin and others, 2017)
//   bce:   sum(bce), bce = -log p_t
// dice is 0 for rows in which all positions are ignored. Computes in f32 (f64 for f64), in a fixed
// order. Ignored positions have no gradient, whatever their logits are. The losses are
// differentiable in logits, and second derivatives use ATen's operators. Throws Error for other
// shapes and dtypes.
std::array<at::Tensor, 3> mask_loss(const at::Tensor& logits, const at::Tensor& target,
                                    const at::Tensor& row_weight,
                                    const MaskLossOptions& options = {});

// Computes mask_loss with ATen's operators, on any device.
std::array<at::Tensor, 3> mask_loss_reference(const at::Tensor& logits, const at::Tensor& target,
                                              const at::Tensor& row_weight,
                                              const MaskLossOptions& options = {});

struct MaskLossKernels {
  void (*forward)(const MaskLossForward&) = nullptr;  // runs on the current stream
  void (*backward)(const MaskLossBackward&) = nullptr;
};
void register_cuda_mask_loss(MaskLossKernels kernels);

}  // namespace lockstep
