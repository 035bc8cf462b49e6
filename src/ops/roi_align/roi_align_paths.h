// Declares RoIAlign on the CPU, for roi_align.cpp.
#pragma once

#include "ops/roi_align/roi_align.h"

namespace lockstep {

// Returns the result of roi_align as [R, height, width, C].
//   features   [N, H, W, C], dense, f32 or f64
//   boxes      f32 [R, 4], dense
//   pictures   i64 [R], dense
// Neither features nor the result may be empty.
at::Tensor roi_align_cpu(const at::Tensor& features, const at::Tensor& boxes,
                         const at::Tensor& pictures, const RoiAlignOptions& options);
// Returns the gradient of features. boxes and pictures are as in roi_align_cpu.
//   of_out   the gradient of the result, dense
//   sizes    the sizes of features, [N, H, W, C]
at::Tensor roi_align_backward_cpu(const at::Tensor& of_out, const at::Tensor& boxes,
                                  const at::Tensor& pictures, at::IntArrayRef sizes,
                                  const RoiAlignOptions& options);

}  // namespace lockstep
