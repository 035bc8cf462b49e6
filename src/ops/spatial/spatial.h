// Operators over [B, C, H, W] and [B, C, D, H, W] whose ATen versions lose the channels-last layout
// on GPUs, or cannot add in a fixed order. ATen's other operators need no replacement.
// docs/design/kernels.md has a table.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// x is [B, C, H, W] or [B, C, D, H, W], floating, in any layout. Results have x's dtype and the
// layout that x suggests (channels-last stays so). All use ATen's operator of the same name if it
// is sufficient. With `deterministic` or `exact` on GPUs they use our own implementations, which
// are bitwise reproducible but slower. Differentiable twice. Sizes are per spatial dimension, or
// one for all.

// Bilinear or trilinear interpolation to the spatial sizes `sizes`.
at::Tensor upsample_linear(const at::Tensor& x, at::IntArrayRef sizes, bool align_corners = false);

// Each element is the maximum of its window. A stride of {} means the window size. Padding counts
// as −inf. Channels-last images on GPUs use our kernel, which is several times as fast as ATen's.
at::Tensor max_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride = {},
                    at::IntArrayRef padding = 0);

// Returns max_pool of windows that do not overlap, and also x for its other readers. If our kernel
// is used, the pass that computes the pool's gradient adds up the gradients of both. The kernel
// supports channels-last tensors on GPUs and windows of up to eight elements. It is fastest if
// channels are a multiple of eight. max_pool uses it too. It is bitwise reproducible.
struct PooledWindows {
  at::Tensor largest, x;
};
PooledWindows pool_windows(const at::Tensor& x, at::IntArrayRef window);

// The mean of each window. Padding counts as 0.
at::Tensor average_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride = {},
                        at::IntArrayRef padding = 0);

// The means of windows that cover x. `sizes` gives their number.
at::Tensor adaptive_average_pool(const at::Tensor& x, at::IntArrayRef sizes);

// Subtracts the mean of each group of channels, divides by the square root of its variance,
// multiplies by weight [C] and adds bias [C]. Both may be undefined. On GPUs ATen's operator makes
// x contiguous. This one keeps a channels-last layout.
at::Tensor group_norm_layer(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                            const at::Tensor& bias, double epsilon = 1e-5);

// The same with one group per channel.
inline at::Tensor instance_norm_layer(const at::Tensor& x, const at::Tensor& weight,
                                      const at::Tensor& bias, double epsilon = 1e-5) {
  return group_norm_layer(x, x.size(1), weight, bias, epsilon);
}

}  // namespace lockstep
