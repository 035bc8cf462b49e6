// Anchors, regions, and the targets of both. All shapes follow from the options alone, and the host
// never waits for the device. So a step can be a CUDA graph.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"
#include "recipes/fewshot/options/fewshot_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::fewshot {

// Anchors of feature maps, made once per shape and device. Use it on one thread.
class Anchors {
 public:
  explicit Anchors(const DetectorShape& shape)
      : grid_{.sizes = shape.anchor_sizes, .ratios = shape.anchor_ratios} {}
  // The anchors for maps [..., h, w]: f32 [h * w * A, 4] in pixels, in the order of grid_anchors.
  const at::Tensor& of(const at::Tensor& maps);

 private:
  struct Made {
    std::int64_t height, width;
    at::Tensor boxes;
  };
  AnchorGrid grid_;
  std::vector<Made> made_;
};

// The true boxes of queries: boxes f32 [Q, M, 4], labels i64 [Q, M]: 0 to N - 1, no_box or
// ignore_box.
struct Truth {
  at::Tensor boxes, labels;
};

// The targets with which rows are compared: positive, weight and box as in match_boxes.h.
using Targets = RowTargets;

// For each class: an anchor is positive from IoU 0.7 with one of the class's boxes on, and negative
// below 0.3. Fields are [Q, N, P].
Targets match_anchors(const at::Tensor& anchors, const Truth& truth, std::int64_t classes,
                      double drawn = 256);

// For regions f32 [Q, R, 4] of any class. Only those with `known` (bool [Q, R]) are used. A region
// is positive from IoU 0.5 on. label: i64 [Q, R], 0 to N - 1, or N for the background. Fields are
// [Q, R].
using RegionTargets = RegionMatches;
RegionTargets match_regions(const at::Tensor& regions, const at::Tensor& known, const Truth& truth,
                            std::int64_t classes, double drawn);

// The most likely regions of each query. They overlap each other by at most IoU 0.7.
struct Proposals {
  at::Tensor boxes;  // f32 [Q, count, 4] within [height, width] pixels
  at::Tensor known;  // bool [Q, count]: false for places without a region, whose box is 0
};
// objectness: [Q, N, h * w, A], deltas: [Q, N, h * w, A, 4], as in AnchorOutputs; [Q, N, P] and [Q,
// N, P, 4] are accepted too. Computes no gradients.
Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count);

}  // namespace lockstep::fewshot
