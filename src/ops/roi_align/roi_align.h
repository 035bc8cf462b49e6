// RoIAlign (He and others, 2017, "Mask R-CNN", section 3): the features of each box, in a grid of
// equal bins.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct RoiAlignOptions {
  // Size of the result in bins, at most roi_align_most_bins each.
  std::int64_t height = 7, width = 7;
  double spatial_scale = 1;  // cells of the features per pixel of the picture: 1 / stride
  // The number of points of a bin along each axis, over which its mean is taken. 0: as many as the
  // bin has cells, rounded up, for each box separately.
  std::int64_t sampling_ratio = 2;
  // Whether cell i of the features lies at i + 0.5. Otherwise it lies at i, and a box has at least
  // one cell along each axis, as in older models.
  bool aligned = true;
};

// features: [N, C, H, W], floating, in any layout. boxes: f32 [R, 4], x1, y1, x2, y2 in pixels of
// the picture. picture_of_box: i32|i64 [R], the row of features in which a box lies. Negative: the
// box is padding, with result 0 and no gradient. All tensors are on one device. Returns [R, C,
// height, width] in features' dtype and layout (channels-last if features suggest it). Each element
// is the mean over a bin's points. Each point is interpolated linearly among four cells, as in
// torchvision.ops.roi_align. Points that are more than one cell outside of the features count as 0.
// A box that is not finite gives 0. Computed in f32 (f64 for features of f64), in a fixed order,
// forward and backward, on the CPU with any number of threads and on GPUs. Does not wait for the
// device. Differentiable in features any number of times. Boxes get no gradient. The internal
// layout is channels-last, so features and gradients in other layouts are copied. Throws Error for
// other shapes and types, and on the CPU for pictures that features do not have. On GPUs such a
// picture stops the device.
at::Tensor roi_align(const at::Tensor& features, const at::Tensor& boxes,
                     const at::Tensor& picture_of_box, const RoiAlignOptions& options = {});

struct RoiAlignKernels {
  void (*forward)(const RoiAlignForward&) = nullptr;  // runs on the current stream
  void (*backward)(const RoiAlignBackward&) = nullptr;
};
void register_cuda_roi_align(RoiAlignKernels kernels);

}  // namespace lockstep
