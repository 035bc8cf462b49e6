// Computes the loss of an episode.
#pragma once

#include "ops/boxes/boxes.h"
#include "recipes/fewshot/model/net.h"
#include "recipes/fewshot/model/regions.h"

namespace lockstep::fewshot {

// How box deltas of the head are computed from boxes, with the weights of Fast R-CNN (Girshick,
// arXiv:1504.08083).
inline constexpr BoxCoding region_coding{.weights = {10, 10, 5, 5}};

// The loss terms of an episode: sums over its queries, f32 []. The loss of each anchor or region is
// weighted by Targets::weight and by the weight of its query. Each sum is multiplied by its factor
// in FewshotOptions::Loss. The two sums over anchors are divided by the number of classes.
struct EpisodeLoss {
  at::Tensor objectness, anchor_boxes, classes, region_boxes;
};

// regions: f32 [Q, R, 4]. found: the outputs for all Q * R regions, query by query. query_weight:
// f32 [Q].
EpisodeLoss episode_loss(const at::Tensor& anchors, const AnchorOutputs& proposed,
                         const Targets& anchor_targets, const at::Tensor& regions,
                         const RegionOutputs& found, const RegionTargets& region_targets,
                         const at::Tensor& query_weight, const FewshotOptions::Loss& factors);

}  // namespace lockstep::fewshot
