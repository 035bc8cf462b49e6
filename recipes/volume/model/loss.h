// Computes the loss of the network: Dice loss, focal loss and cross-entropy.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

struct LossOptions {
  double dice = 0.6, focal = 0.2, bce = 0.2;  // weights of the terms
  double focal_alpha = 0.25, focal_gamma = 2;
};

// Returns three sums over the rows, as 0-dim f32. Each sum is multiplied by its weight in
// `options`. Within a sum, each row is multiplied by its row_weight. A voxel is labelled unless its
// label is no_label. The sums are:
//   dice   over rows with a labelled voxel: 1 - (2 Σ p y + 1) / (Σ p + Σ y + 1)
//   focal  over labelled voxels: α (1 - p)^γ times the cross-entropy, with p of the true class
//   bce    over labelled voxels: cross-entropy
// With one output, p is the sigmoid of the logit. With several outputs, p is the softmax of the
// logits, and Dice is the mean over the classes from 1 on. The factor α is focal_alpha for
// foreground, and 1 - focal_alpha for background. The target y is 1 for voxels of the class, and 0
// for all other voxels.
//
// logits: floating [B, outputs, d, h, w]. labels: u8 [B, d, h, w]. row_weight: f32 [B].
std::array<at::Tensor, 3> segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                                            const at::Tensor& row_weight,
                                            const LossOptions& options);

// Returns the divisors of the three sums of a micro-batch. The first is the number of rows with a
// labelled voxel. The other two are the number of labelled voxels. Each row counts with its
// row_weight. labels, row_weight: as for segmentation_loss, but on the CPU.
std::vector<double> segmentation_weights(const at::Tensor& labels, const at::Tensor& row_weight);

// Returns every 2^level-th label along each axis, for deep supervision.
at::Tensor coarser_labels(const at::Tensor& labels, std::int64_t level);

}  // namespace lockstep::volume
