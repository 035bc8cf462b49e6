#include "recipes/fewshot/model/loss.h"

#include "ops/detection_loss/detection_loss.h"

namespace lockstep::fewshot {

EpisodeLoss episode_loss(const at::Tensor& anchors, const AnchorOutputs& proposed,
                         const Targets& anchor_targets, const at::Tensor& regions,
                         const RegionOutputs& found, const RegionTargets& region_targets,
                         const at::Tensor& query_weight, const FewshotOptions::Loss& factors) {
  const auto classes = static_cast<double>(proposed.objectness.size(1));
  const DetectionLoss of_anchors =
      proposal_loss(proposed.objectness, proposed.deltas, anchors, anchor_targets, query_weight,
                    {.beta = 1.0 / 9,
                     .class_factor = factors.proposals / classes,
                     .box_factor = factors.proposal_boxes / classes});
  const DetectionLoss of_regions = region_loss(
      found.logits, found.deltas, regions, region_targets.rows, region_targets.label, query_weight,
      {.coding = region_coding,
       .beta = 1,
       .class_factor = factors.classes,
       .box_factor = factors.boxes});
  return {.objectness = of_anchors.classes,
          .anchor_boxes = of_anchors.boxes,
          .classes = of_regions.classes,
          .region_boxes = of_regions.boxes};
}

}  // namespace lockstep::fewshot
