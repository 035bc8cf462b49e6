// Matches rows of a detector (anchors or regions) with true boxes, and weights them for the loss.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Labels of boxes that belong to no class.
inline constexpr std::int64_t no_box = match_no_box;  // a row of `boxes` that is padding
// A box to ignore, which is neither object nor background.
inline constexpr std::int64_t ignore_box = match_ignore_box;

struct AnchorMatching {
  std::int64_t classes = 1;
  double positive = 0.7, negative = 0.3;  // thresholds of the IoU
  // An anchor is not negative if more than this share of its area is in a box with label
  // ignore_box.
  double ignored = 0.5;
  double drawn = 256;           // number of anchors in a random draw (RowTargets::weight)
  double positive_share = 0.5;  // largest share of positive anchors in a draw
};

// The targets of a detector's rows. Shapes: match_anchors gives [Q, N, P] for Q pictures, N classes
// and P anchors. match_regions gives [Q, R] for R regions.
struct RowTargets {
  at::Tensor positive;  // bool
  // f32: the weight of the row in the loss. It is the mean weight that the row would have if rows
  // were drawn at random for the loss. The sum of the weights over the last axis is at most 1.
  // Positive rows together get at most positive_share. Negative rows get at most the rest. Other
  // rows get 0.
  at::Tensor weight;
  at::Tensor box;  // f32 [..., 4]: true box of a positive row; any values in other rows
};

// Matches anchors as in Faster R-CNN (Ren and others, 2015), for each class separately.
//   anchors   f32 [P, 4], corners
//   boxes     f32 [Q, M, 4]
//   labels    i64 [Q, M], from 0 to N − 1, no_box or ignore_box
// An anchor is positive in two cases:
//   - Its IoU with a box of the class is at least `positive`.
//   - Its IoU with some box of the class is as large as that of any other anchor, and is above
//     0.001. The anchor is then matched with that box, even if another box overlaps it more.
// An anchor is negative if it is not positive, its IoU with each box of the class is below
// `negative`, and it is not in a box to ignore (AnchorMatching::ignored). The result has no
// gradient. Does not wait for the device. Throws Error for other shapes and dtypes.
RowTargets match_anchors(const at::Tensor& anchors, const at::Tensor& boxes,
                         const at::Tensor& labels, const AnchorMatching& how);

// Computes match_anchors with ATen's operators, on any device.
RowTargets match_anchors_reference(const at::Tensor& anchors, const at::Tensor& boxes,
                                   const at::Tensor& labels, const AnchorMatching& how);

struct RegionMatching {
  std::int64_t classes = 1;
  double positive = 0.5;  // threshold of the IoU
  // A region is not negative if more than this share of its area is in a box with label ignore_box.
  double ignored = 0.5;
  double drawn = 128;            // number of regions in a random draw (RowTargets::weight)
  double positive_share = 0.25;  // largest share of positive regions in a draw
};

struct RegionMatches {
  RowTargets rows;
  at::Tensor label;  // i64 [Q, R]: the class of a positive region, else `classes` (background)
};

// Matches regions as in Fast R-CNN (Girshick, 2015).
//   regions         f32 [Q, R, 4]
//   known           bool [Q, R]: whether there is a region; other rows are neither positive nor
//                   negative
//   boxes, labels   as in match_anchors
// A region is positive if its IoU with a box of any class is at least `positive`. Any other region
// is negative, unless it is in a box to ignore (RegionMatching::ignored). The result has no
// gradient. Does not wait for the device. Throws Error for other shapes and dtypes.
RegionMatches match_regions(const at::Tensor& regions, const at::Tensor& known,
                            const at::Tensor& boxes, const at::Tensor& labels,
                            const RegionMatching& how);

// Computes match_regions with ATen's operators, on any device.
RegionMatches match_regions_reference(const at::Tensor& regions, const at::Tensor& known,
                                      const at::Tensor& boxes, const at::Tensor& labels,
                                      const RegionMatching& how);

// Returns RowTargets::weight. `positive` and `negative` are bool [..., P], and say which rows are
// positive or negative.
at::Tensor weights_as_drawn(const at::Tensor& positive, const at::Tensor& negative, double drawn,
                            double positive_share);
// Returns the largest share of each row's area that is in one box to ignore, [Q, R].
//   rows     [..., R, 4]
//   boxes    [Q, M, 4]
//   labels   [Q, M]
at::Tensor ignored_shares(const at::Tensor& rows, const at::Tensor& boxes,
                          const at::Tensor& labels);

struct MatchKernels {
  void (*anchors)(const MatchArguments&) = nullptr;  // runs on the current stream
  void (*regions)(const RegionMatchArguments&) = nullptr;
};
void register_cuda_match(MatchKernels kernels);

}  // namespace lockstep
