// The loss of several classes, and what sums are divided by.
#include "recipes/volume/model/loss.h"

#include "recipes/volume/model/patches.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::volume {
namespace {

at::Tensor labels_of_rows() {
  at::Tensor labels = at::randint(0, 3, {3, 4, 4, 4}).to(at::kByte);
  labels[0][1].fill_(no_label);
  labels[2].fill_(no_label);
  return labels;
}

TEST(SegmentationLoss, CountsLabelledRowsAndVoxels) {
  const at::Tensor labels = labels_of_rows();
  EXPECT_EQ(segmentation_weights(labels, at::tensor({1.0F, 1.0F, 1.0F})),
            (std::vector<double>{2, 48 + 64, 48 + 64}));
  EXPECT_EQ(segmentation_weights(labels, at::tensor({1.0F, 0.0F, 1.0F})),
            (std::vector<double>{1, 48, 48}));
}

TEST(SegmentationLoss, CountsVoxelsOfLargePatches) {
  const at::Tensor labels = at::full({1, 30, 35, 37}, 1, at::kByte);
  labels[0].slice(0, 1, 29).fill_(no_label);
  labels[0][29][34][36].fill_(no_label);
  EXPECT_EQ(segmentation_weights(labels, at::tensor({1.0F}))[1], 2 * 35 * 37 - 1);
}

// Voxel by voxel, in double precision.
TEST(SegmentationLoss, OfClassesIsWhatItSays) {
  const at::Tensor labels = labels_of_rows(), logits = at::randn({3, 3, 4, 4, 4});
  const at::Tensor weight = at::tensor({1.0F, 1.0F, 1.0F});
  const LossOptions options{
      .dice = 0.5, .focal = 2, .bce = 3, .focal_alpha = 0.3, .focal_gamma = 1.5};
  double dice = 0, focal = 0, cross = 0;
  for (int row = 0; row < 3; ++row) {
    double both[3] = {}, sum[3] = {};
    int known = 0;
    for (int v = 0; v < 64; ++v) {
      const int label = labels[row].flatten()[v].item<int>();
      if (label == no_label) continue;
      ++known;
      double shares[3], all = 0;
      for (int c = 0; c < 3; ++c)
        all += shares[c] = std::exp(logits[row][c].flatten()[v].item<double>());
      for (int c = 0; c < 3; ++c) {
        shares[c] /= all;
        sum[c] += shares[c] + (c == label);
        both[c] += shares[c] * (c == label);
      }
      cross -= std::log(shares[label]);
      focal -= std::log(shares[label]) * std::pow(1 - shares[label], 1.5) * (label > 0 ? 0.3 : 0.7);
    }
    if (known > 0)
      for (int c = 1; c < 3; ++c) dice += (1 - (2 * both[c] + 1) / (sum[c] + 1)) / 2;
  }
  const auto sums = segmentation_loss(logits, labels, weight, options);
  EXPECT_NEAR(sums[0].item<double>(), 0.5 * dice, 1e-4);
  EXPECT_NEAR(sums[1].item<double>(), 2 * focal, 1e-3);
  EXPECT_NEAR(sums[2].item<double>(), 3 * cross, 1e-3);
}

TEST(SegmentationLoss, VoxelsWithoutLabelHaveNoGradient) {
  for (const std::int64_t outputs : {1, 3}) {
    at::Tensor logits = at::randn({3, outputs, 4, 4, 4}).requires_grad_(true);
    const at::Tensor labels = labels_of_rows();
    const auto sums = segmentation_loss(logits, labels, at::tensor({1.0F, 1.0F, 1.0F}), {});
    sums[0].add(sums[1]).add(sums[2]).backward();
    const at::Tensor gradient = logits.grad();
    EXPECT_EQ(gradient[2].abs().max().item<float>(), 0);
    EXPECT_EQ(gradient[0].select(1, 1).abs().max().item<float>(), 0);
    EXPECT_GT(gradient[1].abs().max().item<float>(), 0);
  }
}

}  // namespace
}  // namespace lockstep::volume
