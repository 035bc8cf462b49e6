// The loss of the network: Dice, focal loss and cross-entropy.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::volume {

struct LossOptions {
  double dice = 0.6, focal = 0.2, bce = 0.2;  // weights
  double focal_alpha = 0.25, focal_gamma = 2;
};

// Sums over the rows, each multiplied by its weight and not divided by anything:
//   dice   over rows with a labelled voxel: 1 - (2 Σ p y + 1) / (Σ p + Σ y + 1)
//   focal  over labelled voxels: α (1 - p)^γ times the cross-entropy, p of the right class
//   bce    over labelled voxels: cross-entropy
// With one logit, p is its sigmoid. With more, p is their softmax, Dice is the mean over the
// classes from 1 on, and α is that of the voxel's class. logits: [B, outputs, d, h, w] floating.
// labels: u8 [B, d, h, w]; voxels with no_label are left out. row_weight: f32 [B]. Returns three
// 0-dim f32.
std::array<at::Tensor, 3> segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                                            const at::Tensor& row_weight,
                                            const LossOptions& options);

// The divisors of a micro-batch's sums: the numbers of labelled rows, of labelled voxels, and of
// labelled voxels again. labels, row_weight: as above, on the CPU.
std::vector<double> segmentation_weights(const at::Tensor& labels, const at::Tensor& row_weight);

// Takes every 2^level-th voxel along each axis.
at::Tensor coarser_labels(const at::Tensor& labels, std::int64_t level);

}  // namespace lockstep::volume
