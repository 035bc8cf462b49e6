// Anchors, regions, and the targets of each. All shapes follow from the options alone, and nothing
// waits for the device, so that a step can be a CUDA graph.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"
#include "recipes/fewshot/options/fewshot_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::fewshot {

// Anchors of maps, made once per shape and device. One thread.
class Anchors {
 public:
  explicit Anchors(const DetectorShape& shape)
      : grid_{.sizes = shape.anchor_sizes, .ratios = shape.anchor_ratios} {}
  // The anchors of maps [..., h, w]: f32 [h * w * A, 4] in pixels, ordered as grid_anchors has
  // them.
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

// The targets that rows are compared with: positive, weight and box as match_boxes.h has them.
using Targets = RowTargets;

// For each class: positive from IoU 0.7 with one of its boxes, negative below 0.3. Fields
// [Q, N, P].
Targets match_anchors(const at::Tensor& anchors, const Truth& truth, std::int64_t classes,
                      double drawn = 256);

// Regions f32 [Q, R, 4] of any class, those that are `known` (bool [Q, R]): positive from IoU 0.5.
// label i64 [Q, R]: 0 to N - 1, or N for the background. Fields [Q, R].
using RegionTargets = RegionMatches;
RegionTargets match_regions(const at::Tensor& regions, const at::Tensor& known, const Truth& truth,
                            std::int64_t classes, double drawn);

// The most likely regions of each query, which overlap by at most IoU 0.7.
struct Proposals {
  at::Tensor boxes;  // f32 [Q, count, 4] within [height, width] pixels
  at::Tensor known;  // bool [Q, count]: false if there are fewer; the box is 0 then
};
// objectness [Q, N, h * w, A] and deltas [Q, N, h * w, A, 4] as AnchorOutputs has them; also
// [Q, N, P] and [Q, N, P, 4]. Without gradients.
Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count);

}  // namespace lockstep::fewshot
