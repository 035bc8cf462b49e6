// The loss of an episode.
#pragma once

#include "ops/boxes/boxes.h"
#include "recipes/fewshot/model/net.h"
#include "recipes/fewshot/model/regions.h"

namespace lockstep::fewshot {

// The units of changes of regions' boxes: typical changes, as in Fast R-CNN (Girshick,
// arXiv:1504.08083).
inline constexpr BoxCoding region_coding{.weights = {10, 10, 5, 5}};

// Sums over an episode's queries, f32 []. The cost of each row is weighted by Targets::weight and
// the weight of its query, and each sum is multiplied by its factor. The sums over anchors are
// means over the classes.
struct EpisodeLoss {
  at::Tensor objectness, anchor_boxes, classes, region_boxes;
};

// regions: f32 [Q, R, 4]. found: outputs of all regions in order, query by query. query_weight: f32
// [Q].
EpisodeLoss episode_loss(const at::Tensor& anchors, const AnchorOutputs& proposed,
                         const Targets& anchor_targets, const at::Tensor& regions,
                         const RegionOutputs& found, const RegionTargets& region_targets,
                         const at::Tensor& query_weight, const FewshotOptions::Loss& factors);

}  // namespace lockstep::fewshot
