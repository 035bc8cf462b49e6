#include "recipes/fewshot/model/regions.h"

#include "ops/chosen_boxes/chosen_boxes.h"
#include "ops/nms/nms.h"
#include "ops/top_rows/top_rows.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <vector>

namespace lockstep::fewshot {
namespace {

constexpr double positive_anchor = 0.7, negative_anchor = 0.3, positive_region = 0.5;
constexpr double ignored_share = 0.5;  // share of a row that must be inside an ignored box
constexpr double positive_share_of_anchors = 0.5, positive_share_of_regions = 0.25;
constexpr double proposals_apart = 0.7;    // as IoU
constexpr std::int64_t before_nms = 1000;  // candidates per query before NMS

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
  return lockstep::match_regions(regions, known, truth.boxes, truth.labels,
                                 {.classes = classes,
                                  .positive = positive_region,
                                  .ignored = ignored_share,
                                  .drawn = drawn,
                                  .positive_share = positive_share_of_regions});
}

Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count) {
  const at::NoGradGuard no_gradient;
  const std::int64_t of_query = objectness.flatten(1).size(1);  // N * P
  const std::int64_t taken = std::min(std::max(before_nms, count), of_query);
  const TopRows top = top_rows(objectness, taken);
  const at::Tensor boxes = decode_chosen(deltas, anchors, top.index, static_cast<double>(height),
                                         static_cast<double>(width));
  const KeptBoxes kept = nms_padded(boxes, top.values, proposals_apart, count, /*group=*/{},
                                    /*is_sorted=*/true);
  const IndexedBoxes found = boxes_at(boxes, kept.indices);
  return {.boxes = found.boxes, .known = found.known};
}

}  // namespace lockstep::fewshot
