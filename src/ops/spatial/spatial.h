// Operators over [B, C, H, W] and [B, C, D, H, W] where ATen's lose the channels-last layout on
// GPUs, or have no form that adds in a fixed order. Everything else ATen does well:
// docs/design/kernels.md has a table.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// x is [B, C, H, W] or [B, C, D, H, W], floating, in any layout; results have the layout that x
// suggests (channels-last stays so) and x's dtype. All are ATen's operator of the same name
// wherever that will do; with `deterministic` or `exact` on GPUs they take a form of their own,
// which repeats to the bit and is slower. Differentiable twice. Sizes are per spatial dimension, or
// one for all.

// Bilinear or trilinear, to spatial sizes `sizes`.
at::Tensor upsample_linear(const at::Tensor& x, at::IntArrayRef sizes, bool align_corners = false);

// Each element is the largest of its window; a stride of {} is the window. Padding counts as −inf.
// For images that lie channels-last on GPUs a kernel of ours, of several times ATen's speed.
at::Tensor max_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride = {},
                    at::IntArrayRef padding = 0);

// max_pool of windows that do not overlap, and x itself for whatever else wants it: where a kernel
// of ours serves, the gradients of both are added up in the pass that makes the pool's. It serves
// channels-last tensors on GPUs and windows of up to eight elements, fastest where channels are a
// multiple of eight; max_pool takes it too, and it repeats to the bit.
struct PooledWindows {
  at::Tensor largest, x;
};
PooledWindows pool_windows(const at::Tensor& x, at::IntArrayRef window);

// The mean of a window; padding counts as 0.
at::Tensor average_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride = {},
                        at::IntArrayRef padding = 0);

// The means of windows that cover x, `sizes` of them.
at::Tensor adaptive_average_pool(const at::Tensor& x, at::IntArrayRef sizes);

// Each group of channels less its mean over the root of its variance, times weight plus bias [C],
// which may be undefined. On GPUs ATen's makes x contiguous; in a channels-last layout this one
// does not.
at::Tensor group_norm_layer(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                            const at::Tensor& bias, double epsilon = 1e-5);

// The same with a group per channel.
inline at::Tensor instance_norm_layer(const at::Tensor& x, const at::Tensor& weight,
                                      const at::Tensor& bias, double epsilon = 1e-5) {
  return group_norm_layer(x, x.size(1), weight, bias, epsilon);
}

}  // namespace lockstep
