// Replaces some ATen operators over images and volumes. On GPUs, ATen's versions of these operators
// lose the channels-last layout or do not add in a fixed order. docs/design/kernels.md has a table
// of the replaced operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// In all functions, x is floating, [B, C, H, W] or [B, C, D, H, W], in any layout. Results have the
// dtype of x and the memory format x.suggest_memory_format(). They are differentiable twice. Sizes,
// windows, strides and paddings have one number per spatial dimension, or one number for all of
// them. A function calls ATen's operator if that operator is sufficient. With the options
// `deterministic` or `exact`, GPUs use implementations that are bitwise reproducible but slower.

// Interpolates x bilinearly or trilinearly to the spatial sizes `sizes`.
at::Tensor upsample_linear(const at::Tensor& x, at::IntArrayRef sizes, bool align_corners = false);

// Max pooling: each element of the result is the maximum of its window. If `stride` is empty, the
// stride is the window size. Padding has the value −inf. On GPUs, channels-last images use our
// kernel, which is several times as fast as ATen's.
at::Tensor max_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride = {},
                    at::IntArrayRef padding = 0);

// Returns max_pool of windows that do not overlap, and also x. Other operations that need x should
// read the returned x. If our kernel is used, its pass that computes the gradient of x then also
// adds the gradients from these operations. The kernel is bitwise reproducible. The kernel supports
// channels-last tensors on GPUs and windows of up to eight elements, and is fastest if channels are
// a multiple of eight. max_pool uses the same kernel.
struct PooledWindows {
  at::Tensor largest, x;
};
PooledWindows pool_windows(const at::Tensor& x, at::IntArrayRef window);

// Average pooling: each element of the result is the mean of its window. If `stride` is empty, the
// stride is the window size. Padding has the value 0, and is included in the mean.
at::Tensor average_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride = {},
                        at::IntArrayRef padding = 0);

// Adaptive average pooling: each element of the result is the mean of a window. `sizes` is the
// number of windows along each dimension. Together the windows cover x.
at::Tensor adaptive_average_pool(const at::Tensor& x, at::IntArrayRef sizes);

// Subtracts the mean of each group of channels, and divides by the square root of the group's
// variance plus epsilon. Then multiplies by weight [C] and adds bias [C]. weight and bias may be
// undefined. On GPUs a channels-last layout is kept, while ATen's operator makes x contiguous.
at::Tensor group_norm_layer(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                            const at::Tensor& bias, double epsilon = 1e-5);

// Computes group_norm_layer with one group per channel.
inline at::Tensor instance_norm_layer(const at::Tensor& x, const at::Tensor& weight,
                                      const at::Tensor& bias, double epsilon = 1e-5) {
  return group_norm_layer(x, x.size(1), weight, bias, epsilon);
}

}  // namespace lockstep
