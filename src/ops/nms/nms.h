// Non-maximum suppression: of boxes that overlap, the one with the highest score.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>

namespace lockstep {

// Boxes are taken by score downwards, of equal scores the one with the lower index first; a box is
// kept unless its IoU with one that was kept before it, of the same group, is above the threshold.
// These are the rules of torchvision.ops.nms, and with groups of batched_nms.

struct KeptBoxes {
  at::Tensor indices;  // i64 [at_most] or [B, at_most]: into R, by score downwards, then −1
  at::Tensor count;    // i64 [1] or [B]: how many of them are not −1
};

// The kept boxes of one set or of B sets at once, at most the first `at_most` of each, in tensors
// whose size does not depend on values: nothing waits for the device, so that a CUDA graph can hold
// it. boxes: f32 [R, 4] or [B, R, 4], x1, y1, x2, y2. scores: f32 [R] or [B, R]; a box whose score
// is −inf or NaN takes no part: it is not kept and suppresses nothing (padding, and what is below a
// score). group: i64, of scores' shape, or undefined: one for all. All on one device; no gradient.
// A box that holds NaN overlaps nothing. is_sorted: scores go downwards already, as at::topk gives
// them, and are not sorted again. Needs R² / 64 words of 8 bytes per set on GPUs. at_most:
// at least 1; may exceed R. Throws Error for other shapes and types.
KeptBoxes nms_padded(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold,
                     std::int64_t at_most, const at::Tensor& group = {}, bool is_sorted = false);

// The indices of the kept boxes of one set alone, i64 [K], by score downwards. Waits for the
// device.
at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold,
               const at::Tensor& group = {},
               std::int64_t at_most = std::numeric_limits<std::int64_t>::max());

struct NmsKernels {
  void (*overlaps)(const NmsArguments&) = nullptr;  // on the current stream
  void (*keep)(const NmsArguments&) = nullptr;
};
void register_cuda_nms(NmsKernels kernels);

}  // namespace lockstep
