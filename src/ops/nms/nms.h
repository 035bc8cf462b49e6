// Computes non-maximum suppression: keeps the box with the highest score among boxes that overlap.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>

namespace lockstep {

// Boxes are processed by descending score, and with equal scores by ascending index. A box is kept
// unless its IoU with a kept box of the same group is above the threshold. These are the rules of
// torchvision.ops.nms. With groups, they are the rules of torchvision.ops.batched_nms.

struct KeptBoxes {
  at::Tensor indices;  // i64 [at_most] or [B, at_most], by descending score; then −1
  at::Tensor count;    // i64 [1] or [B]: number of kept boxes
};

// Returns the kept boxes of one set, or of each of B sets. Returns only the first `at_most` boxes
// of a set.
//   boxes       f32 [R, 4] or [B, R, 4]: x1, y1, x2, y2
//   scores      f32 [R] or [B, R]
//   at_most     at least 1; may exceed R
//   group       i64, in the shape of scores; undefined if there is one group
//   is_sorted   whether scores are already descending, as at::topk returns them
// A box whose score is −inf or NaN is not kept and suppresses nothing. Use −inf for padding and for
// scores below a minimum. A box with a NaN coordinate overlaps no other box. All tensors are on one
// device. The result has no gradient. Throws Error for other shapes and dtypes.
//
// The sizes of the result do not depend on values. So our kernels need not wait for the device, and
// a CUDA graph can contain them. The kernels need R² / 8 bytes of memory per set. In builds without
// our kernels, and for more than nms_most_boxes boxes or nms_most_sets sets, the CPU computes the
// result. The call then waits for the GPU.
KeptBoxes nms_padded(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold,
                     std::int64_t at_most, const at::Tensor& group = {}, bool is_sorted = false);

// Returns the indices of the kept boxes of one set, i64 [K], by descending score. Waits for the
// device.
at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold,
               const at::Tensor& group = {},
               std::int64_t at_most = std::numeric_limits<std::int64_t>::max());

struct NmsKernels {
  void (*overlaps)(const NmsArguments&) = nullptr;  // runs on the current stream
  void (*keep)(const NmsArguments&) = nullptr;
};
void register_cuda_nms(NmsKernels kernels);

}  // namespace lockstep
