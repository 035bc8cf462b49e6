// The loss of a detector's rows: cross-entropy of their logits and smooth L1 of their boxes. One
// pass computes the weighted sums of both.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"
#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

struct DetectionLossOptions {
  BoxCoding coding;
  double beta = 1;  // of smooth L1, above 0: where its parabola becomes a line
  // Factors of the two sums.
  double class_factor = 1, box_factor = 1;
};

// Sums over all rows, f32 and 0-dim (f64 for logits of f64). Row r of picture q has the weight w =
// targets.weight[r] × picture_weight[q]. It adds:
//   classes: w × cross-entropy
//   boxes:   w × the smooth L1 of deltas − encode_boxes(targets.box, from), its four numbers added
//            up, of positive rows; deltas and boxes of other rows may be anything
struct DetectionLoss {
  at::Tensor classes, boxes;
};

// For rows with one logit: binary cross-entropy (of the sigmoid) with `positive`. logits: floating,
// one element for each element of targets.positive, in that order, in any shape. deltas: four
// elements for each, so [..., 4 A] also fits. Both are read in place if they are a convolution's
// channels-last result. anchors: f32 [P, 4]; row r has anchor r % P. targets: as in match_boxes.h,
// with pictures as the first axis. picture_weight: f32 [Q], or undefined for 1. Computed in f32
// (f64 for logits of f64), on GPUs in a fixed order. Differentiable in logits and deltas, and
// second derivatives use ATen's operators. Throws Error for other shapes and types.
DetectionLoss proposal_loss(const at::Tensor& logits, const at::Tensor& deltas,
                            const at::Tensor& anchors, const RowTargets& targets,
                            const at::Tensor& picture_weight,
                            const DetectionLossOptions& options = {});

// For rows with a logit per class, and one for the background if it has a label: cross-entropy (of
// the softmax) with `label`, i64 of targets.positive's shape. A row with a negative label has no
// class loss. logits: floating [rows, C]. from: f32 [..., 4], a box for each row. The rest is as
// above. A label that is not below C stops the device on GPUs, and is an error elsewhere.
DetectionLoss region_loss(const at::Tensor& logits, const at::Tensor& deltas,
                          const at::Tensor& from, const RowTargets& targets,
                          const at::Tensor& label, const at::Tensor& picture_weight,
                          const DetectionLossOptions& options = {});

// Both losses in ATen's operators, on any device. With an undefined label it computes the first
// one.
DetectionLoss detection_loss_reference(const at::Tensor& logits, const at::Tensor& deltas,
                                       const at::Tensor& from, const RowTargets& targets,
                                       const at::Tensor& label, const at::Tensor& picture_weight,
                                       const DetectionLossOptions& options);

struct DetectionLossKernels {
  void (*forward)(const DetectionLossForward&) = nullptr;  // runs on the current stream
  void (*backward)(const DetectionLossBackward&) = nullptr;
};
void register_cuda_detection_loss(DetectionLossKernels kernels);

}  // namespace lockstep
