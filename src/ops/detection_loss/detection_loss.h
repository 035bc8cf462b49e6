// The loss of a detector's rows: cross-entropy of their logits and smooth L1 of their boxes, both
// summed up by weights in one pass.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"
#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

struct DetectionLossOptions {
  BoxCoding coding;
  double beta = 1;  // of smooth L1, above 0: where it turns from a parabola into a line
  // The two sums are multiplied by them.
  double class_factor = 1, box_factor = 1;
};

// Sums over all rows, f32 and 0-dim (f64 for logits of f64). Row r of picture q has the weight
// w = targets.weight[r] × picture_weight[q] and adds:
//   classes: w × cross-entropy
//   boxes:   w × the smooth L1 of deltas − encode_boxes(targets.box, from), its four numbers added
//            up, of positive rows; others' deltas and boxes may be anything
struct DetectionLoss {
  at::Tensor classes, boxes;
};

// A row has one logit: binary cross-entropy (by sigmoid) with `positive`.
// logits: floating, an element for each of targets.positive's, in that order whatever its shape;
// deltas: four for each, so also [..., 4 A]. Both as a convolution's channels-last result has them
// are read in place. anchors f32 [P, 4], of row r: r % P. targets as match_boxes.h has them, the
// first axis pictures. picture_weight: f32 [Q], or undefined: 1. Computed in f32 (f64 for logits of
// f64), on GPUs in a fixed order. Differentiable in logits and deltas, twice by way of ATen. Throws
// Error for other shapes and types.
DetectionLoss proposal_loss(const at::Tensor& logits, const at::Tensor& deltas,
                            const at::Tensor& anchors, const RowTargets& targets,
                            const at::Tensor& picture_weight,
                            const DetectionLossOptions& options = {});

// A row has a logit per class, and one for the background if it has a label: cross-entropy (by
// softmax) with label, i64 of targets.positive's shape; a row whose label is negative costs nothing
// there. logits: floating [rows, C]. from f32 [..., 4]: a box for each row. Else as above. On GPUs
// a label that is not below C stops the device, elsewhere it is an error.
DetectionLoss region_loss(const at::Tensor& logits, const at::Tensor& deltas,
                          const at::Tensor& from, const RowTargets& targets,
                          const at::Tensor& label, const at::Tensor& picture_weight,
                          const DetectionLossOptions& options = {});

// Both in ATen's operators, on any device; label undefined: the first.
DetectionLoss detection_loss_reference(const at::Tensor& logits, const at::Tensor& deltas,
                                       const at::Tensor& from, const RowTargets& targets,
                                       const at::Tensor& label, const at::Tensor& picture_weight,
                                       const DetectionLossOptions& options);

struct DetectionLossKernels {
  void (*forward)(const DetectionLossForward&) = nullptr;  // on the current stream
  void (*backward)(const DetectionLossBackward&) = nullptr;
};
void register_cuda_detection_loss(DetectionLossKernels kernels);

}  // namespace lockstep
