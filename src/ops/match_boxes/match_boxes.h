// Matches rows of a detector (anchors or regions) with true boxes.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Labels of true boxes that belong to no class.
inline constexpr std::int64_t no_box = match_no_box;          // padding
inline constexpr std::int64_t ignore_box = match_ignore_box;  // neither object nor background

struct AnchorMatching {
  std::int64_t classes = 1;
  double positive = 0.7, negative = 0.3;  // IoU
  // An anchor with more than this share of its area in a box to ignore is not negative.
  double ignored = 0.5;
  double drawn = 256;           // number of anchors that would be drawn at random
  double positive_share = 0.5;  // largest share of positives among them
};

// The targets of rows. match_anchors: [Q, N, P], of Q pictures, for each of N classes and P
// anchors; match_regions: [Q, R].
struct RowTargets {
  at::Tensor positive;  // bool
  // f32: the mean weight that random drawing would give. Over the last axis, the sum is 1 or less.
  // Positives get at most their share, negatives get the rest, and other rows get 0.
  at::Tensor weight;
  at::Tensor box;  // f32 [..., 4]: the true box of a positive row; undefined in other rows
};

// Matches as in Faster R-CNN (Ren and others, 2015), for each class separately. An anchor is
// positive if its IoU with a box of the class is at least `positive`, or if no anchor overlaps that
// box more. It is negative if its IoU with all of these boxes is below `negative` and it does not
// lie in a box to ignore. anchors: f32 [P, 4], corners. boxes: f32 [Q, M, 4]. labels: i64 [Q, M],
// from 0 to N − 1, no_box or ignore_box. No gradient. Does not wait for the device. Throws Error
// for other shapes and types.
RowTargets match_anchors(const at::Tensor& anchors, const at::Tensor& boxes,
                         const at::Tensor& labels, const AnchorMatching& how);

// The same in ATen's operators, on any device.
RowTargets match_anchors_reference(const at::Tensor& anchors, const at::Tensor& boxes,
                                   const at::Tensor& labels, const AnchorMatching& how);

struct RegionMatching {
  std::int64_t classes = 1;
  double positive = 0.5;  // IoU
  // A region with more than this share of its area in a box to ignore is not negative.
  double ignored = 0.5;
  double drawn = 128;            // number of regions that would be drawn at random
  double positive_share = 0.25;  // largest share of positives among them
};

struct RegionMatches {
  RowTargets rows;
  at::Tensor label;  // i64 [Q, R]: the class of a positive region; `classes` (background) for
                     // others
};

// Matches as in Fast R-CNN (Girshick, 2015), but only regions that are `known`. A region is
// positive if its IoU with a box of any class is at least `positive`. Otherwise it is negative,
// unless it lies in a box to ignore. regions: f32 [Q, R, 4]. known: bool [Q, R]. boxes and labels:
// as above. No gradient. Does not wait for the device. Throws Error for other shapes and types.
RegionMatches match_regions(const at::Tensor& regions, const at::Tensor& known,
                            const at::Tensor& boxes, const at::Tensor& labels,
                            const RegionMatching& how);

// The same in ATen's operators, on any device.
RegionMatches match_regions_reference(const at::Tensor& regions, const at::Tensor& known,
                                      const at::Tensor& boxes, const at::Tensor& labels,
                                      const RegionMatching& how);

// Returns RowTargets::weight for `positive` and `negative`, bool [..., P].
at::Tensor weights_as_drawn(const at::Tensor& positive, const at::Tensor& negative, double drawn,
                            double positive_share);
// rows: [..., R, 4]. boxes: [Q, M, 4]. labels: [Q, M]. Returns [Q, R]: the largest share of each
// row's area that lies in one of the boxes to ignore.
at::Tensor ignored_shares(const at::Tensor& rows, const at::Tensor& boxes,
                          const at::Tensor& labels);

struct MatchKernels {
  void (*anchors)(const MatchArguments&) = nullptr;  // runs on the current stream
  void (*regions)(const RegionMatchArguments&) = nullptr;
};
void register_cuda_match(MatchKernels kernels);

}  // namespace lockstep
