// Max pooling of images with windows that may overlap, by our kernel.
#include "ops/pooling/sliding_windows.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <vector>

namespace lockstep {
namespace {

SlidingPoolKernels sliding_pool_kernels;  // set once, before the first step

// The number of results along an axis, as ATen computes it.
int results_along(std::int64_t size, std::int64_t window, std::int64_t stride,
                  std::int64_t padding) {
  return static_cast<int>((size + 2 * padding - window) / stride + 1);
}

}  // namespace

SlidingPool sliding_pool_of(at::IntArrayRef sizes, at::ScalarType type, const SlidingSides& sides) {
  SlidingPool pool{.dtype = kernel_dtype(type).value(),
                   .rows = sizes[0],
                   .channels = sizes[1],
                   .height = static_cast<int>(sizes[2]),
                   .width = static_cast<int>(sizes[3])};
  for (std::size_t i = 0; i < 2; ++i) {
    pool.window[i] = static_cast<int>(sides.window[i]);
    pool.stride[i] = static_cast<int>(sides.stride[i]);
    pool.padding[i] = static_cast<int>(sides.padding[i]);
  }
  pool.out_height = results_along(sizes[2], sides.window[0], sides.stride[0], sides.padding[0]);
  pool.out_width = results_along(sizes[3], sides.window[1], sides.stride[1], sides.padding[1]);
  return pool;
}

at::Tensor put_back(const at::Tensor& of_y, const at::Tensor& places, at::IntArrayRef sizes,
                    const SlidingSides& sides) {
  const auto longs = places.options().dtype(at::kLong);
  const at::Tensor place = places.to(at::kLong);
  const auto corner = [&](std::size_t i) {
    return at::arange(of_y.size(static_cast<std::int64_t>(i) + 2), longs)
        .mul(sides.stride[i])
        .sub(sides.padding[i]);
  };
  const at::Tensor y = place.floor_divide(sides.window[1]).add(corner(0).unsqueeze(1)),
                   x = place.remainder(sides.window[1]).add(corner(1));
  return at::zeros({sizes[0], sizes[1], sizes[2] * sizes[3]}, of_y.options())
      .scatter_add(2, y.mul(sizes[3]).add(x).flatten(2), of_y.flatten(2))
      .view(sizes);
}

namespace {

struct SlidingPooled : torch::autograd::Function<SlidingPooled> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const std::vector<std::int64_t>& window,
                            const std::vector<std::int64_t>& stride,
                            const std::vector<std::int64_t>& padding) {
    const auto format = at::MemoryFormat::ChannelsLast;
    const at::Tensor rows = lying_densely(x, format);
    const SlidingPool pool =
        sliding_pool_of(x.sizes(), x.scalar_type(), SlidingSides(window, stride, padding));
    const at::Tensor y = at::empty({pool.rows, pool.channels, pool.out_height, pool.out_width},
                                   x.options().memory_format(format));
    const at::Tensor places =
        at::empty(y.sizes(), y.options().dtype(at::kByte).memory_format(format));
    sliding_pool_kernels.forward({.pool = pool,
                                  .x = rows.const_data_ptr(),
                                  .y = y.mutable_data_ptr(),
                                  .places = places.mutable_data_ptr<std::uint8_t>()});
    context->save_for_backward({places});
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["window"] = window;
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor& of_y = gradients[0];
    if (!of_y.defined()) return {{}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor& places = saved[0];
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const SlidingSides sides(context->saved_data["window"].toIntVector(),
                             context->saved_data["stride"].toIntVector(),
                             context->saved_data["padding"].toIntVector());
    if (is_differentiated()) return {put_back(of_y, places, sizes, sides), {}, {}, {}};
    const auto format = at::MemoryFormat::ChannelsLast;
    const at::Tensor up = lying_densely(of_y, format);
    const at::Tensor of_x = at::empty(sizes, up.options().memory_format(format));
    sliding_pool_kernels.backward({.pool = sliding_pool_of(sizes, up.scalar_type(), sides),
                                   .of_y = up.const_data_ptr(),
                                   .places = places.const_data_ptr<std::uint8_t>(),
                                   .of_x = of_x.mutable_data_ptr()});
    return {of_x, {}, {}, {}};
  }
};

}  // namespace

bool sliding_pool_serves(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                         at::IntArrayRef padding) {
  if (!x.is_cuda() || x.dim() != 4 || sliding_pool_kernels.forward == nullptr ||
      !kernel_dtype(x.scalar_type()) || x.numel() == 0 ||
      !x.is_contiguous(at::MemoryFormat::ChannelsLast) ||
      x.size(3) * x.size(1) > window_pool_most_line)
    return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (window[i] < 1 || window[i] > sliding_pool_most_places || stride[i] < 1 || padding[i] < 0 ||
        2 * padding[i] > window[i] ||
        window[i] > x.size(static_cast<std::int64_t>(i) + 2) + 2 * padding[i])
      return false;  // ATen computes it or reports the error
  return window[0] * window[1] <= sliding_pool_most_places;
}

at::Tensor sliding_pool_by_kernel(const at::Tensor& x, at::IntArrayRef window,
                                  at::IntArrayRef stride, at::IntArrayRef padding) {
  return SlidingPooled::apply(x, window.vec(), stride.vec(), padding.vec());
}

void register_cuda_sliding_pool(SlidingPoolKernels kernels) { sliding_pool_kernels = kernels; }

}  // namespace lockstep
