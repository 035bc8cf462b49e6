// Anchors, regions, and what each should have been. All shapes follow from the options alone, and
// nothing waits for the device, so that a step can be a CUDA graph.
#pragma once

#include "kernels/boxes.h"
#include "recipes/fewshot/options/fewshot_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::fewshot {

// Labels of true boxes that are no class of the episode.
inline constexpr std::int64_t no_box = -1;      // padding
inline constexpr std::int64_t ignore_box = -2;  // what lies there is neither object nor background

// Anchors of maps, made once per shape and device. One thread.
class Anchors {
 public:
  explicit Anchors(const DetectorShape& shape)
      : grid_{.sizes = shape.anchor_sizes, .ratios = shape.anchor_ratios} {}
  // Of maps [..., h, w]: f32 [h * w * A, 4] in pixels, ordered as grid_anchors has them.
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

// What rows are compared with. `weight` shares out what drawing a fixed number of rows at random
// would give on average: positives take at most their share of 1, negatives the rest, and rows that
// are neither nothing.
struct Targets {
  at::Tensor positive;  // bool [..., P]
  at::Tensor weight;    // f32 [..., P], a sum of 1, or less where there are few rows
  at::Tensor box;       // f32 [..., P, 4]: the true box of a positive row; else any
};

// For each class: positive from IoU 0.7 with one of its boxes, and the best anchors of each box;
// negative below 0.3. An anchor that lies half in a box to ignore is never negative. Fields
// [Q, N, P].
struct AnchorTargets : Targets {};
AnchorTargets match_anchors(const at::Tensor& anchors, const Truth& truth, std::int64_t classes,
                            double drawn = 256);

// Regions f32 [Q, R, 4] of any class, those that are `known` (bool [Q, R]): positive from IoU 0.5.
// label i64 [Q, R]: 0 to N - 1, or N for the background. Fields [Q, R].
struct RegionTargets : Targets {
  at::Tensor label;
};
RegionTargets match_regions(const at::Tensor& regions, const at::Tensor& known, const Truth& truth,
                            std::int64_t classes, double drawn = 128);

// The most likely regions of each query, which overlap by at most IoU 0.7.
struct Proposals {
  at::Tensor boxes;  // f32 [Q, count, 4] within [height, width] pixels
  at::Tensor known;  // bool [Q, count]: false where there are fewer; the box is 0 then
};
// objectness f32 [Q, N, P], deltas f32 [Q, N, P, 4]. Without gradients.
Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count);

}  // namespace lockstep::fewshot
