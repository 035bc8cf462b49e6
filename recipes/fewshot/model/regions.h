// Computes anchors, regions, and the targets of both. Shapes use the letters of net.h, M for true
// boxes per query and P for anchors per query. All shapes depend only on the options, and the host
// never waits for the device. So a training step can be captured as a CUDA graph.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"
#include "recipes/fewshot/options/fewshot_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::fewshot {

// The anchors of feature maps. They are made once per map size and device. Use an object on one
// thread at a time.
class Anchors {
 public:
  explicit Anchors(const DetectorShape& shape)
      : grid_{.sizes = shape.anchor_sizes, .ratios = shape.anchor_ratios} {}
  // Returns the anchors for maps [..., h, w]: f32 [h * w * A, 4] in pixels, in the order of
  // grid_anchors.
  const at::Tensor& of(const at::Tensor& maps);

 private:
  struct Made {
    std::int64_t height, width;
    at::Tensor boxes;
  };
  AnchorGrid grid_;
  std::vector<Made> made_;
};

// The true boxes of queries. boxes: f32 [Q, M, 4]. labels: i64 [Q, M], from 0 to N - 1, or no_box
// or ignore_box (match_boxes.h).
struct Truth {
  at::Tensor boxes, labels;
};

// The targets of anchors or regions: the fields positive, weight and box of match_boxes.h.
using Targets = RowTargets;

// Returns the targets of anchors for each class; fields are [Q, N, P]. An anchor is positive if its
// IoU with a box of the class is at least 0.7. The anchors with the largest IoU with a box of the
// class are positive too. Other anchors are negative if their IoU with each box of the class is
// below 0.3. Anchors with more than half of their area in a box labelled ignore_box are not
// negative. drawn: Faster R-CNN draws this many anchors at random. Here, Targets::weight gives the
// mean result of such a draw.
Targets match_anchors(const at::Tensor& anchors, const Truth& truth, std::int64_t classes,
                      double drawn = 256);

// Returns the targets of regions f32 [Q, R, 4]; fields are [Q, R]. Only regions with `known` (bool
// [Q, R]) are used. A region is positive if its IoU with a box of any class is at least 0.5. label:
// i64 [Q, R], from 0 to N - 1, or N for the background. drawn: as in match_anchors.
using RegionTargets = RegionMatches;
RegionTargets match_regions(const at::Tensor& regions, const at::Tensor& known, const Truth& truth,
                            std::int64_t classes, double drawn);

// The most likely regions of each query. Any two regions of a query overlap by at most IoU 0.7.
struct Proposals {
  at::Tensor boxes;  // f32 [Q, count, 4] within [height, width] pixels
  at::Tensor known;  // bool [Q, count]: false for places without a region, whose box is 0
};
// Returns `count` regions per query. objectness: [Q, N, h * w, A] and deltas: [Q, N, h * w, A, 4],
// as in AnchorOutputs, or [Q, N, P] and [Q, N, P, 4]. height, width: the size of a query in pixels.
// Computes no gradients.
Proposals propose(const at::Tensor& anchors, const at::Tensor& objectness, const at::Tensor& deltas,
                  std::int64_t height, std::int64_t width, std::int64_t count);

}  // namespace lockstep::fewshot
