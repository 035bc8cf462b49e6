// The loss of an episode.
#pragma once

#include "ops/boxes/boxes.h"
#include "recipes/fewshot/model/net.h"
#include "recipes/fewshot/model/regions.h"

namespace lockstep::fewshot {

// How changes of regions' boxes are counted: in units of what is usual, as Fast R-CNN has them
// (Girshick, arXiv:1504.08083).
inline constexpr BoxCoding region_coding{.weights = {10, 10, 5, 5}};

// Sums over an episode's queries of what each row costs, by Targets::weight times its query's, and
// each times its factor, f32 []; those of anchors are means over the classes.
struct EpisodeLoss {
  at::Tensor objectness, anchor_boxes, classes, region_boxes;
};

// regions f32 [Q, R, 4]; outputs of all regions in order, query by query; query_weight f32 [Q].
EpisodeLoss episode_loss(const at::Tensor& anchors, const AnchorOutputs& proposed,
                         const Targets& anchor_targets, const at::Tensor& regions,
                         const RegionOutputs& found, const RegionTargets& region_targets,
                         const at::Tensor& query_weight, const FewshotOptions::Loss& factors);

}  // namespace lockstep::fewshot
