// Computes RoIAlign: samples the features of each box in a grid of equal bins (He and others, 2017,
// "Mask R-CNN", section 3).
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct RoiAlignOptions {
  // The number of bins of the result along each axis, at most roi_align_most_bins.
  std::int64_t height = 7, width = 7;
  double spatial_scale = 1;  // cells of the features per pixel of the picture: 1 / stride
  // The number of points of a bin along each axis, from 0 to 64. The result is the mean over these
  // points. With 0, the number of points in a bin along an axis is the bin's length in cells,
  // rounded up.
  std::int64_t sampling_ratio = 2;
  // Whether the centre of cell i is at i + 0.5. If false, the centre is at i, and a box is at least
  // one cell long along each axis, as in older models.
  bool aligned = true;
};

// Returns the features of R boxes, [R, C, height, width], in the dtype of features. The result has
// the memory format features.suggest_memory_format().
//   features         [N, C, H, W], floating, in any layout
//   boxes            f32 [R, 4], x1, y1, x2, y2 in pixels of the picture; get no gradient
//   picture_of_box   i32|i64 [R]: the row of features in which a box lies, below N
// All tensors are on one device. A box whose picture_of_box is negative is padding: its result is
// 0. Each element of the result is the mean over a bin's points. Each point is interpolated
// linearly among four cells, as in torchvision.ops.roi_align. Points that are more than one cell
// outside of the features count as 0. If a corner of a box is not finite, the result of the box is
// 0.
//
// Computes in f32 (f64 for f64), in a fixed order, forward and backward, on GPUs and on any number
// of CPU threads. The result is differentiable in features any number of times. On GPUs, our
// kernels do not wait for the device. For f64 features on a GPU, and in builds without our kernels,
// the CPU computes the result, and the call waits for the GPU. Our kernels work channels-last, so
// features and gradients in other layouts are copied.
//
// Throws Error for other shapes, dtypes and options. An element of picture_of_box that is N or more
// is an error on the CPU, and fails a device-side assertion on GPUs.
at::Tensor roi_align(const at::Tensor& features, const at::Tensor& boxes,
                     const at::Tensor& picture_of_box, const RoiAlignOptions& options = {});

struct RoiAlignKernels {
  void (*forward)(const RoiAlignForward&) = nullptr;  // runs on the current stream
  void (*backward)(const RoiAlignBackward&) = nullptr;
};
void register_cuda_roi_align(RoiAlignKernels kernels);

}  // namespace lockstep
