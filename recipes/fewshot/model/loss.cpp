#include "recipes/fewshot/model/loss.h"

#include "kernels/boxes.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <ATen/ops/where.h>

namespace lockstep::fewshot {
namespace {

// Rows of boxes that are meant as others, f32 [...]: smooth L1 over the four numbers.
at::Tensor box_cost(const at::Tensor& deltas, const at::Tensor& from, const Targets& targets,
                    const BoxCoding& coding, double beta) {
  const at::Tensor wanted = encode_boxes(targets.box, from, coding);
  const at::Tensor cost =
      at::smooth_l1_loss(deltas, at::where(targets.positive.unsqueeze(-1), wanted, deltas.detach()),
                         at::Reduction::None, beta)
          .sum(-1);
  return cost.mul(targets.weight).mul(targets.positive);
}

}  // namespace

EpisodeLoss episode_loss(const at::Tensor& anchors, const AnchorOutputs& proposed,
                         const Targets& anchor_targets, const at::Tensor& regions,
                         const RegionOutputs& found, const RegionTargets& region_targets) {
  const auto classes = static_cast<double>(proposed.objectness.size(1));
  const at::Tensor there = at::binary_cross_entropy_with_logits(
      proposed.objectness, anchor_targets.positive.to(at::kFloat), {}, {}, at::Reduction::None);
  const at::Tensor entropy =
      at::cross_entropy_loss(found.logits, region_targets.label.flatten(), {}, at::Reduction::None);
  return {.objectness = there.mul(anchor_targets.weight).sum().div(classes),
          .anchor_boxes =
              box_cost(proposed.deltas, anchors, anchor_targets, {}, 1.0 / 9).sum().div(classes),
          .classes = entropy.mul(region_targets.rows.weight.flatten()).sum(),
          .region_boxes = box_cost(found.deltas.view_as(regions), regions, region_targets.rows,
                                   region_coding, 1)
                              .sum()};
}

}  // namespace lockstep::fewshot
