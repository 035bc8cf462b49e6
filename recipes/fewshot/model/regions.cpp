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

}  // namespace

const at::Tensor& Anchors::of(const at::Tensor& maps) {
  const std::int64_t height = maps.size(-2), width = maps.size(-1);
  for (const Made& made : made_)
    if (made.height == height && made.width == width && made.boxes.device() == maps.device())
      return made.boxes;
  made_.push_back({height, width, grid_anchors(grid_, height, width, maps.device())});
  return made_.back().boxes;
}

Targets match_anchors(const at::Tensor& anchors, const Truth& truth, std::int64_t classes,
                      double drawn) {
  return lockstep::match_anchors(anchors, truth.boxes, truth.labels,
                                 {.classes = classes,
                                  .positive = positive_anchor,
                                  .negative = negative_anchor,
                                  .ignored = ignored_share,
                                  .drawn = drawn,
                                  .positive_share = positive_share_of_anchors});
}

RegionTargets match_regions(const at::Tensor& regions, const at::Tensor& known, const Truth& truth,
                            std::int64_t classes, double drawn) {
  const at::Tensor of_class = truth.labels.ge(0).unsqueeze(1);  // [Q, 1, M]
  const at::Tensor iou = box_ious(regions, truth.boxes).masked_fill(of_class.logical_not(), 0);
  const auto [best, which] = iou.max(-1);  // [Q, R]
  const at::Tensor positive = best.ge(positive_region).logical_and(known);
  const at::Tensor negative =
      known.logical_and(positive.logical_not())
          .logical_and(ignored_shares(regions, truth.boxes, truth.labels).le(ignored_share));
  RegionTargets targets;
  targets.rows.positive = positive;
  targets.rows.weight = weights_as_drawn(positive, negative, drawn, positive_share_of_regions);
  targets.rows.box = truth.boxes.gather(1, which.unsqueeze(-1).expand({-1, -1, 4}));
  targets.label = at::where(positive, truth.labels.gather(1, which), classes);
  return targets;
}

Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count) {
  const at::NoGradGuard no_gradient;
  const std::int64_t queries = objectness.size(0), places = anchors.size(0);
  const at::Tensor scores = objectness.flatten(1);  // [Q, N * P]
  const std::int64_t taken = std::min(std::max(before_nms, count), scores.size(1));
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
