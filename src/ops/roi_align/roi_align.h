// RoIAlign (He and others, 2017, "Mask R-CNN", section 3): features of boxes, in a grid of bins of
// one size.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct RoiAlignOptions {
  std::int64_t height = 7, width = 7;  // of the result, in bins; at most roi_align_most_bins each
  double spatial_scale = 1;            // cells of the features per pixel of the picture: 1 / stride
  // Points that a bin's mean is taken over, along each axis; 0: as many as a bin has cells, rounded
  // up, for each box by itself.
  std::int64_t sampling_ratio = 2;
  // Whether cell i of the features lies at i + 0.5; otherwise at i, and a box has at least one cell
  // along each axis, as in older models.
  bool aligned = true;
};

// features [N, C, H, W], floating, in any layout. boxes f32 [R, 4]: x1, y1, x2, y2 in pixels of the
// picture. picture_of_box i32|i64 [R]: the row of features that a box lies in; negative: the box is
// padding, its result is 0 and it has no gradient. All on one device. Returns [R, C, height, width]
// in features' dtype and layout (channels-last where features suggest it): the mean over a bin's
// points, each interpolated linearly among four cells, as torchvision.ops.roi_align. Points beyond
// the features by more than one cell count as 0; a box that is not finite gives 0.
// Computed in f32 (f64 for features of f64), in a fixed order, forward and backward, on the CPU
// with any number of threads and on GPUs; does not wait for the device. Differentiable in features
// any number of times; boxes get no gradient. The layout inside is channels-last: other features
// and gradients are copied. Throws Error for other shapes and types, and on the CPU for pictures
// that features do not have; on GPUs such a picture stops the device.
at::Tensor roi_align(const at::Tensor& features, const at::Tensor& boxes,
                     const at::Tensor& picture_of_box, const RoiAlignOptions& options = {});

struct RoiAlignKernels {
  void (*forward)(const RoiAlignForward&) = nullptr;  // on the current stream
  void (*backward)(const RoiAlignBackward&) = nullptr;
};
void register_cuda_roi_align(RoiAlignKernels kernels);

}  // namespace lockstep
