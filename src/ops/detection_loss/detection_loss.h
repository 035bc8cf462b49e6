// Computes the loss of a detector's rows: cross-entropy of their logits, and smooth L1 of their
// boxes. One pass computes the weighted sums of both.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"
#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

struct DetectionLossOptions {
  BoxCoding coding;
  double beta = 1;  // the difference at which smooth L1 becomes linear; above 0
  // The factors of the two sums.
  double class_factor = 1, box_factor = 1;
};

// Two sums over all rows, 0-dim f32 (f64 for logits of f64). Row r of picture q has the weight w =
// targets.weight[r] × picture_weight[q]. Row r adds these losses to the sums:
//   classes: w × the cross-entropy of its logits
//   boxes:   w × smooth L1 of deltas − encode_boxes(targets.box, from), summed over four numbers
// Only positive rows add to `boxes`. The deltas and boxes of other rows may be anything.
struct DetectionLoss {
  at::Tensor classes, boxes;
};

// Returns the loss of rows with one logit. It uses the binary cross-entropy of the logit's sigmoid
// with targets.positive.
//   logits           floating, one element per element of targets.positive, in that order
//   deltas           floating, four elements per row in that order, in any shape
//   anchors          f32 [P, 4]; row r has anchor r % P
//   targets          as in match_boxes.h; the first axis is the picture
//   picture_weight   f32 [Q]; undefined if all are 1
// logits may have any shape. A channels-last result of a convolution is read in place. The function
// computes in f32 (f64 for logits of f64), on GPUs in a fixed order. The sums are differentiable in
// logits and deltas, and second derivatives use ATen's operators. Throws Error for other shapes and
// dtypes.
DetectionLoss proposal_loss(const at::Tensor& logits, const at::Tensor& deltas,
                            const at::Tensor& anchors, const RowTargets& targets,
                            const at::Tensor& picture_weight,
                            const DetectionLossOptions& options = {});

// Returns the loss of rows with one logit per class. It uses the cross-entropy of the softmax with
// `label`. If `label` also has a value for the background, the background needs a logit too.
//   logits   floating [rows, C]
//   from     f32 [..., 4]: for each row, the box from which its deltas are measured
//   label    i64, in the shape of targets.positive; a row with a negative label has no class loss
// All other rules are those of proposal_loss. A label of C or more fails a device-side assertion on
// GPUs, and is an error on the CPU.
DetectionLoss region_loss(const at::Tensor& logits, const at::Tensor& deltas,
                          const at::Tensor& from, const RowTargets& targets,
                          const at::Tensor& label, const at::Tensor& picture_weight,
                          const DetectionLossOptions& options = {});

// Computes proposal_loss if `label` is undefined, else region_loss, with ATen's operators on any
// device.
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
