#include "recipes/fewshot/model/regions.h"

#include "kernels/nms.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <vector>

namespace lockstep::fewshot {
namespace {

constexpr double positive_anchor = 0.7, negative_anchor = 0.3, positive_region = 0.5;
constexpr double ignored_share = 0.5;  // of a row that lies in a box to ignore
constexpr double positive_share_of_anchors = 0.5, positive_share_of_regions = 0.25;
constexpr double proposals_apart = 0.7;    // IoU
constexpr std::int64_t before_nms = 1000;  // per query

// Positives count `share` of all at most, negatives the rest.
at::Tensor weights_of(const at::Tensor& positive, const at::Tensor& negative, double drawn,
                      double share) {
  const at::Tensor p = positive.to(at::kFloat), n = negative.to(at::kFloat);
  const at::Tensor positives = p.sum(-1, true), negatives = n.sum(-1, true);
  const at::Tensor of_positives = positives.clamp_max(drawn * share);
  const at::Tensor of_negatives = at::minimum(negatives, of_positives.neg().add(drawn));
  return p.mul(of_positives.div(positives.clamp_min(1)))
      .add(n.mul(of_negatives.div(negatives.clamp_min(1))))
      .div(drawn);
}

// rows [..., R, 4]: the largest share of each row's area that lies in one of the boxes to ignore,
// [Q, R].
at::Tensor ignored_share_of(const at::Tensor& rows, const Truth& truth) {
  const at::Tensor a = rows.unsqueeze(-2),
                   b = truth.boxes.unsqueeze(1);  // [., R, 1, 4], [Q, 1, M, 4]
  const at::Tensor low = at::maximum(a.slice(-1, 0, 2), b.slice(-1, 0, 2));
  const at::Tensor high = at::minimum(a.slice(-1, 2, 4), b.slice(-1, 2, 4));
  const at::Tensor inside = high.sub(low).clamp_min(0).prod(-1);  // [Q, R, M]
  return inside.masked_fill(truth.labels.ne(ignore_box).unsqueeze(1), 0)
      .amax(-1)
      .div(box_areas(rows).clamp_min(1e-6));
}

}  // namespace

const at::Tensor& Anchors::of(const at::Tensor& maps) {
  const std::int64_t height = maps.size(-2), width = maps.size(-1);
  for (const Made& made : made_)
    if (made.height == height && made.width == width && made.boxes.device() == maps.device())
      return made.boxes;
  made_.push_back({height, width, grid_anchors(grid_, height, width, maps.device())});
  return made_.back().boxes;
}

AnchorTargets match_anchors(const at::Tensor& anchors, const Truth& truth, std::int64_t classes,
                            double drawn) {
  const at::Tensor overlaps = box_ious(anchors.unsqueeze(0), truth.boxes);  // [Q, P, M]
  const at::Tensor class_numbers = at::arange(classes, truth.labels.options());
  const at::Tensor of_class =
      truth.labels.unsqueeze(1).eq(class_numbers.view({1, -1, 1}));  // [Q, N, M]
  // [Q, N, P, M] would be large: class by class.
  const at::Tensor ignored = ignored_share_of(anchors.unsqueeze(0), truth).gt(ignored_share);
  std::vector<at::Tensor> positive, weight, box;
  for (std::int64_t c = 0; c < classes; ++c) {
    const at::Tensor own = of_class.select(1, c).unsqueeze(1);          // [Q, 1, M]
    const at::Tensor iou = overlaps.masked_fill(own.logical_not(), 0);  // [Q, P, M]
    const auto [best, which] = iou.max(-1);                             // [Q, P]
    const at::Tensor best_of_box = iou.amax(1, true);                   // [Q, 1, M]
    const at::Tensor is_best = iou.eq(best_of_box).logical_and(best_of_box.gt(1e-3));
    // A box's best anchor is meant for that box, though another may overlap it more.
    const auto [any_best, best_for] = is_best.to(at::kByte).max(-1);
    const at::Tensor forced = any_best.gt(0);
    const at::Tensor is_positive = best.ge(positive_anchor).logical_or(forced);
    const at::Tensor negative =
        best.lt(negative_anchor).logical_and(is_positive.logical_or(ignored).logical_not());
    const at::Tensor index = at::where(forced, best_for, which);
    positive.push_back(is_positive);
    weight.push_back(weights_of(is_positive, negative, drawn, positive_share_of_anchors));
    box.push_back(truth.boxes.gather(1, index.unsqueeze(-1).expand({-1, -1, 4})));
  }
  return {{.positive = at::stack(positive, 1),
           .weight = at::stack(weight, 1),
           .box = at::stack(box, 1)}};
}

RegionTargets match_regions(const at::Tensor& regions, const at::Tensor& known, const Truth& truth,
                            std::int64_t classes, double drawn) {
  const at::Tensor of_class = truth.labels.ge(0).unsqueeze(1);  // [Q, 1, M]
  const at::Tensor iou = box_ious(regions, truth.boxes).masked_fill(of_class.logical_not(), 0);
  const auto [best, which] = iou.max(-1);  // [Q, R]
  const at::Tensor positive = best.ge(positive_region).logical_and(known);
  const at::Tensor negative = known.logical_and(positive.logical_not())
                                  .logical_and(ignored_share_of(regions, truth).le(ignored_share));
  RegionTargets targets;
  targets.positive = positive;
  targets.weight = weights_of(positive, negative, drawn, positive_share_of_regions);
  targets.box = truth.boxes.gather(1, which.unsqueeze(-1).expand({-1, -1, 4}));
  targets.label = at::where(positive, truth.labels.gather(1, which), classes);
  return targets;
}

Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count) {
  const at::NoGradGuard no_gradient;
  const std::int64_t queries = objectness.size(0), places = anchors.size(0);
  const at::Tensor scores = objectness.flatten(1);  // [Q, N * P]
  const std::int64_t taken = std::min(before_nms, scores.size(1));
  const auto [top, index] = scores.topk(taken, 1);
  const at::Tensor chosen = deltas.flatten(1, 2).gather(1, index.unsqueeze(-1).expand({-1, -1, 4}));
  const at::Tensor from =
      anchors.index_select(0, index.remainder(places).flatten()).view({queries, taken, 4});
  const at::Tensor boxes = clip_boxes(decode_boxes(chosen, from), static_cast<double>(height),
                                      static_cast<double>(width));
  const at::Tensor kept = nms_padded(boxes, top, proposals_apart, count).indices;  // [Q, count]
  const at::Tensor known = kept.ge(0);
  const at::Tensor found = boxes.gather(1, kept.clamp_min(0).unsqueeze(-1).expand({-1, -1, 4}));
  return {.boxes = found.mul(known.unsqueeze(-1)), .known = known};
}

}  // namespace lockstep::fewshot
