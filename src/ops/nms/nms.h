// Non-maximum suppression. It keeps the box with the highest score among boxes that overlap.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>

namespace lockstep {

// Boxes are taken in the order of descending scores. Among equal scores the lower index comes
// first. A box is kept unless its IoU with an already kept box of the same group is above the
// threshold. These are the rules of torchvision.ops.nms, and with groups those of batched_nms.

struct KeptBoxes {
  at::Tensor indices;  // i64 [at_most] or [B, at_most]: indices into R, by descending score, then
                       // −1
  at::Tensor count;    // i64 [1] or [B]: how many indices are not −1
};

// Returns the kept boxes of one set, or of B sets at once, at most the first `at_most` of each. The
// sizes of the results do not depend on values. So nothing waits for the device, and a CUDA graph
// can contain this call. boxes: f32 [R, 4] or [B, R, 4], x1, y1, x2, y2. scores: f32 [R] or [B, R].
// A box whose score is −inf or NaN is not kept and suppresses nothing. Use such scores for padding
// and for boxes below a minimum score. group: i64, in scores' shape, or undefined for one group.
// All tensors are on one device. No gradient. A box that holds NaN overlaps nothing. is_sorted:
// scores are already descending, as at::topk returns them, and are not sorted again. Needs R² / 64
// words of 8 bytes per set on GPUs. at_most: at least 1, and may exceed R. Throws Error for other
// shapes and types.
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
