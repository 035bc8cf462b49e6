// Computes non-maximum suppression: keeps the box with the highest score among boxes that overlap.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>

namespace lockstep {

// Boxes are processed by descending score, and with equal scores by ascending index. A box is kept
// unless its IoU with a kept box of the same group is above the threshold. These are the rules of
// torchvision.ops.nms, and with groups those of batched_nms.

struct KeptBoxes {
  at::Tensor indices;  // i64 [at_most] or [B, at_most], by descending score; −1 after the last
  at::Tensor count;    // i64 [1] or [B]: number of kept boxes
};

// Returns the kept boxes of one set, or of each of B sets: at most the first `at_most`.
//   boxes       f32 [R, 4] or [B, R, 4]: x1, y1, x2, y2
//   scores      f32 [R] or [B, R]
//   at_most     at least 1; may exceed R
//   group       i64, in the shape of scores; undefined if there is one group
//   is_sorted   whether scores are already descending, as at::topk returns them
// A box whose score is −inf or NaN is not kept and suppresses nothing. Use −inf for padding and for
// scores below a minimum. A box that holds NaN overlaps no other. All tensors are on one device.
// The result has no gradient. Throws Error for other shapes and dtypes.
//
// The sizes of the result do not depend on values. So our kernels need not wait for the device, and
// a CUDA graph can contain them. The kernels need R² / 8 bytes of memory per set. Without kernels,
// and for more than nms_most_boxes boxes or nms_most_sets sets, the result is computed on the CPU,
// and the call waits for the GPU.
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
