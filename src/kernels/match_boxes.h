// Which anchors of a proposal network stand for which true boxes.
#pragma once

#include "kernels/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Labels of true boxes that are of no class.
inline constexpr std::int64_t no_box = match_no_box;          // padding
inline constexpr std::int64_t ignore_box = match_ignore_box;  // neither object nor background

struct AnchorMatching {
  std::int64_t classes = 1;
  double positive = 0.7, negative = 0.3;  // IoU
  double ignored = 0.5;                   // of an anchor's area in a box to ignore
  double drawn = 256;                     // anchors that would be drawn at random
  double positive_share = 0.5;            // of them, at most
};

// Of Q pictures, for each of N classes and P anchors.
struct AnchorMatches {
  at::Tensor positive;  // bool [Q, N, P]
  // f32 [Q, N, P]: what drawing would give on average, a sum of 1 or less: positives take at most
  // their share, negatives the rest, and anchors that are neither nothing.
  at::Tensor weight;
  at::Tensor box;  // f32 [Q, N, P, 4]: the true box of a positive anchor; else any
};

// As in Faster R-CNN (Ren and others, 2015), for each class apart: an anchor is positive if its IoU
// with a box of the class is at least `positive`, or if none overlaps that box more; negative if it
// is below `negative` with all of them and does not lie in a box to ignore.
// anchors f32 [P, 4], corners; boxes f32 [Q, M, 4]; labels i64 [Q, M]: 0 to N − 1, no_box or
// ignore_box. No gradient; waits for no device. Throws Error for other shapes and types.
AnchorMatches match_anchors(const at::Tensor& anchors, const at::Tensor& boxes,
                            const at::Tensor& labels, const AnchorMatching& how);

// The same in ATen's operators, on any device.
AnchorMatches match_anchors_reference(const at::Tensor& anchors, const at::Tensor& boxes,
                                      const at::Tensor& labels, const AnchorMatching& how);

// `positive` and `negative`, bool [..., P]: weights as above.
at::Tensor weights_as_drawn(const at::Tensor& positive, const at::Tensor& negative, double drawn,
                            double positive_share);
// rows [..., R, 4], boxes [Q, M, 4], labels [Q, M]: the largest share of each row's area that lies
// in one of the boxes to ignore, [Q, R].
at::Tensor ignored_shares(const at::Tensor& rows, const at::Tensor& boxes,
                          const at::Tensor& labels);

using MatchKernel = void (*)(const MatchArguments&);  // on the current stream
void register_cuda_match(MatchKernel kernel);

}  // namespace lockstep
