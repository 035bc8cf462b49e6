// The implementations of ops/spatial/spatial.h that are not ATen's. They run on any device, so that
// tests can run them on the CPU too.
#pragma once

#include "ops/shared/voxel_arguments.h"
#include "ops/spatial/spatial.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Returns a size for each spatial dimension of x.
std::vector<std::int64_t> per_dimension(const at::Tensor& x, at::IntArrayRef sizes);

// Works axis by axis. Each axis is a product with a small matrix, f32 [new size, size]. Sums are in
// a fixed order.
at::Tensor upsample_linear_in_order(const at::Tensor& x, at::IntArrayRef sizes, bool align_corners);
at::Tensor average_pool_in_order(const at::Tensor& x, at::IntArrayRef window,
                                 at::IntArrayRef stride, at::IntArrayRef padding);
at::Tensor adaptive_average_pool_in_order(const at::Tensor& x, at::IntArrayRef sizes);

// Uses ATen's forward. Backward adds each gradient to the largest element of its window. If windows
// overlap, it adds up the gradients sorted by place.
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

// The same for images and windows that may overlap.
bool sliding_pool_serves(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                         at::IntArrayRef padding);
at::Tensor sliding_pool_by_kernel(const at::Tensor& x, at::IntArrayRef window,
                                  at::IntArrayRef stride, at::IntArrayRef padding);

struct SlidingPoolKernels {
  void (*forward)(const SlidingPoolForward&) = nullptr;  // runs on the current stream
  void (*backward)(const SlidingPoolBackward&) = nullptr;
};
void register_cuda_sliding_pool(SlidingPoolKernels kernels);

// ATen's operator with statistics in f32, or f64 for f64. The result is rounded to x's type. With
// parameters in fp16 or none, ATen's plain operator keeps 1/deviation in fp16 on the CPU, which
// overflows in a constant group.
at::Tensor group_norm_of_aten(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                              const at::Tensor& bias, double epsilon);

// x in a channels-last layout.
at::Tensor group_norm_channels_last(const at::Tensor& x, std::int64_t groups,
                                    const at::Tensor& weight, const at::Tensor& bias,
                                    double epsilon);

}  // namespace lockstep
