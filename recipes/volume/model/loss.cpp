#include "recipes/volume/model/loss.h"

#include "ops/mask_loss/mask_loss.h"
#include "recipes/volume/model/patches.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>

namespace lockstep::volume {
namespace {

at::Tensor weighed_sum(const at::Tensor& rows, const at::Tensor& row_weight) {
  return rows.mul(row_weight).sum();
}

// The loss if each voxel has exactly one class.
std::array<at::Tensor, 3> class_loss(const at::Tensor& logits, const at::Tensor& labels,
                                     const at::Tensor& row_weight, const LossOptions& options) {
  const at::Tensor flat = logits.to(at::kFloat).flatten(2);  // shape [B, K, V]
  const at::Tensor logs = at::log_softmax(flat, 1);
  const at::Tensor known = labels.flatten(1).ne(no_label);  // shape [B, V]
  const at::Tensor index = labels.flatten(1).to(at::kLong).mul(known);
  const at::Tensor counted = known.to(at::kFloat);
  const at::Tensor cross = logs.gather(1, index.unsqueeze(1)).squeeze(1).neg().mul(counted);
  const at::Tensor alpha = at::where(index.gt(0), options.focal_alpha, 1 - options.focal_alpha);
  const at::Tensor focal =
      at::rsub(cross.neg().exp(), 1).clamp_min(0).pow(options.focal_gamma).mul(cross).mul(alpha);
  const at::Tensor shares = logs.exp().mul(counted.unsqueeze(1));
  const at::Tensor right =
      at::zeros_like(shares).scatter_(1, index.unsqueeze(1), 1.0).mul(counted.unsqueeze(1));
  // both have shape [B, K]
  const at::Tensor both = shares.mul(right).sum(2), sum = shares.sum(2) + right.sum(2);
  const at::Tensor dice = (1 - (2 * both + 1) / (sum + 1)).narrow(1, 1, flat.size(1) - 1).mean(1);
  return {weighed_sum(dice.mul(known.any(1)), row_weight), weighed_sum(focal.sum(1), row_weight),
          weighed_sum(cross.sum(1), row_weight)};
}

// Counts a value. std::count adds in wide integers. Sums in bytes are sixteen times as fast, as
// long as they cannot overflow.
std::int64_t count_of(std::uint8_t value, const std::uint8_t* begin, std::int64_t count) {
  constexpr std::int64_t lanes = 64, most = 255;
  std::int64_t found = 0, i = 0;
  while (count - i >= lanes) {
    std::array<std::uint8_t, lanes> sums{};
    for (std::int64_t turn = 0; turn < most && count - i >= lanes; ++turn, i += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        sums[static_cast<std::size_t>(lane)] =
            static_cast<std::uint8_t>(sums[static_cast<std::size_t>(lane)] +
                                      static_cast<std::uint8_t>(begin[i + lane] == value));
    for (const std::uint8_t sum : sums) found += sum;
  }
  return found + std::count(begin + i, begin + count, value);
}

}  // namespace

std::array<at::Tensor, 3> segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                                            const at::Tensor& row_weight,
                                            const LossOptions& options) {
  std::array<at::Tensor, 3> sums = logits.size(1) == 1
                                       ? mask_loss(logits, labels, row_weight,
                                                   {.ignore = no_label,
                                                    .smooth = 1,
                                                    .focal_alpha = options.focal_alpha,
                                                    .focal_gamma = options.focal_gamma})
                                       : class_loss(logits, labels, row_weight, options);
  const std::array<double, 3> weights{options.dice, options.focal, options.bce};
  for (std::size_t i = 0; i < 3; ++i) sums[i] = sums[i].mul(weights[i]);
  return sums;
}

std::vector<double> segmentation_weights(const at::Tensor& labels, const at::Tensor& row_weight) {
  const at::Tensor dense = labels.contiguous();
  const std::int64_t rows = dense.size(0), voxels = dense.numel() / rows;
  const std::uint8_t* label = dense.const_data_ptr<std::uint8_t>();
  double items = 0, known = 0;
  for (std::int64_t row = 0; row < rows; ++row, label += voxels) {
    const double weight = static_cast<double>(row_weight[row].item<float>());
    const std::int64_t count = voxels - count_of(no_label, label, voxels);
    items += count > 0 ? weight : 0;
    known += weight * static_cast<double>(count);
  }
  return {items, known, known};
}

at::Tensor coarser_labels(const at::Tensor& labels, std::int64_t level) {
  if (level == 0) return labels;
  const std::int64_t step = std::int64_t{1} << level;
  return labels.slice(1, 0, labels.size(1), step)
      .slice(2, 0, labels.size(2), step)
      .slice(3, 0, labels.size(3), step)
      .contiguous();
}

}  // namespace lockstep::volume
