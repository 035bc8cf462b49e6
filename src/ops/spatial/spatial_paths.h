// Declares the implementations of ops/spatial/spatial.h that are not ATen's. The implementations
// without a kernel run on any device, so that tests can run them on the CPU.
#pragma once

#include "ops/shared/voxel_arguments.h"
#include "ops/spatial/spatial.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Returns one size for each spatial dimension of x. `sizes` has one size for each dimension, or one
// size for all of them. Throws Error for other numbers of sizes.
std::vector<std::int64_t> per_dimension(const at::Tensor& x, at::IntArrayRef sizes);

// These three functions work axis by axis. Along each axis they compute a product with a small
// matrix, f32 [new size, size]. Sums are in a fixed order.
at::Tensor upsample_linear_in_order(const at::Tensor& x, at::IntArrayRef sizes, bool align_corners);
at::Tensor average_pool_in_order(const at::Tensor& x, at::IntArrayRef window,
                                 at::IntArrayRef stride, at::IntArrayRef padding);
at::Tensor adaptive_average_pool_in_order(const at::Tensor& x, at::IntArrayRef sizes);

// Computes max_pool. Calls ATen's operator in forward. Backward adds each gradient to the largest
// element of its window. If windows overlap, the gradients are sorted by the position of that
// element and then added up.
at::Tensor max_pool_in_order(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                             at::IntArrayRef padding);

// Whether the kernel of `pool_windows_by_kernel` supports these arguments.
bool window_pool_serves(const at::Tensor& x, at::IntArrayRef window);
PooledWindows pool_windows_by_kernel(const at::Tensor& x, at::IntArrayRef window);

struct WindowPoolKernels {
  void (*forward)(const WindowPoolForward&) = nullptr;  // runs on the current stream
  void (*backward)(const WindowPoolBackward&) = nullptr;
};
void register_cuda_window_pool(WindowPoolKernels kernels);

// These functions do the same as the two above for images, with windows that may overlap.
bool sliding_pool_serves(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                         at::IntArrayRef padding);
at::Tensor sliding_pool_by_kernel(const at::Tensor& x, at::IntArrayRef window,
                                  at::IntArrayRef stride, at::IntArrayRef padding);

struct SlidingPoolKernels {
  void (*forward)(const SlidingPoolForward&) = nullptr;  // runs on the current stream
  void (*backward)(const SlidingPoolBackward&) = nullptr;
};
void register_cuda_sliding_pool(SlidingPoolKernels kernels);

// Calls ATen's group norm with statistics in f32, or f64 for f64. The result is rounded to the
// dtype of x. Use this instead of the plain operator, which may overflow on the CPU. If x is fp16,
// and the parameters are fp16 or undefined, the plain operator keeps 1/deviation in fp16.
at::Tensor group_norm_of_aten(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                              const at::Tensor& bias, double epsilon);

// Computes group_norm_of_aten for x in any layout, and returns a channels-last tensor.
at::Tensor group_norm_channels_last(const at::Tensor& x, std::int64_t groups,
                                    const at::Tensor& weight, const at::Tensor& bias,
                                    double epsilon);

}  // namespace lockstep
