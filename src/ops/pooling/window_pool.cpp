// Max pooling with windows that do not overlap, by our kernel. Backward also adds the gradient from
// other uses of x.
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep {
namespace {

WindowPoolKernels window_pool_kernels;  // set once, before the first step

// sizes: the sizes of x.
WindowPool window_pool_of(at::IntArrayRef sizes, at::ScalarType type, at::IntArrayRef window) {
  const bool image = sizes.size() == 4;
  WindowPool pool{.dtype = kernel_dtype(type).value(),
                  .rows = sizes[0],
                  .channels = sizes[1],
                  .depth = image ? 1 : sizes[2],
                  .height = sizes[sizes.size() - 2],
                  .width = sizes.back(),
                  .vectors = sizes[1] % 8 == 0};
  for (std::size_t i = 0; i < window.size(); ++i)
    pool.window[i + (image ? 1 : 0)] = static_cast<int>(window[i]);
  return pool;
}

// Computes the gradient of x from the result's gradient with ATen's operators, so that it can be
// differentiated.
at::Tensor put_back(const at::Tensor& of_y, const at::Tensor& places, at::IntArrayRef sizes,
                    at::IntArrayRef window) {
  const std::int64_t dims = of_y.dim();
  at::Tensor up = of_y, wanted = places, own = at::zeros({1}, places.options());
  for (std::int64_t dim = 2; dim < dims; ++dim) {
    const std::int64_t side = window[static_cast<std::size_t>(dim - 2)];
    up = up.repeat_interleave(side, dim);
    wanted = wanted.repeat_interleave(side, dim);
    const at::Tensor along = at::arange(up.size(dim), places.options()).remainder(side);
    own = own.mul(side).unsqueeze(-1) + along;
  }
  up = up * wanted.eq(own.squeeze(0)).to(up.scalar_type());
  std::vector<std::int64_t> padding;  // the last dimension comes first
  for (std::int64_t dim = dims - 1; dim >= 2; --dim) {
    padding.push_back(0);
    padding.push_back(sizes[static_cast<std::size_t>(dim)] - up.size(dim));
  }
  return at::constant_pad_nd(up, padding);
}

// The distance between places of a channels-last tensor, in elements. Its channels may be a part of
// another tensor's channels. Returns 0 for another layout or without alignment. The stride of a
// dimension of size 1 is ignored.
std::int64_t step_of(const at::Tensor& tensor) {
  std::int64_t step = 0, next = 0;
  if ((tensor.size(1) > 1 && tensor.stride(1) != 1) || !aligned(tensor)) return 0;
  for (std::int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    if (dim == 1 || tensor.size(dim) == 1) continue;
    if (next == 0) step = next = tensor.stride(dim);
    if (next == 0 || tensor.stride(dim) != next) return 0;
    next *= tensor.size(dim);
  }
  if (next == 0) return tensor.size(1);  // the tensor has a single place
  return tensor.size(1) % 8 == 0 && step % 8 != 0 ? 0 : step;
}

struct WindowPooled : torch::autograd::Function<WindowPooled> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& x,
                                                const std::vector<std::int64_t>& window) {
    const auto format = channels_last_format(x);
    const at::Tensor rows = lying_densely(x, format);
    std::vector<std::int64_t> sizes = x.sizes().vec();
    for (std::size_t i = 0; i < window.size(); ++i) sizes[i + 2] /= window[i];
    const at::Tensor y = at::empty(sizes, x.options().memory_format(format));
    const at::Tensor places = at::empty(sizes, y.options().dtype(at::kByte).memory_format(format));
    window_pool_kernels.forward({.pool = window_pool_of(x.sizes(), x.scalar_type(), window),
                                 .x = rows.const_data_ptr(),
                                 .y = y.mutable_data_ptr(),
                                 .places = places.mutable_data_ptr<std::uint8_t>()});
    context->save_for_backward({places});
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["window"] = window;
    context->set_materialize_grads(false);
    return {y, x};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {gradients[1], {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor &of_y = gradients[0], &places = saved[0];
    const std::vector<std::int64_t> window = context->saved_data["window"].toIntVector();
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    if (is_differentiated()) {
      const at::Tensor of_x = put_back(of_y, places, sizes, window);
      return {gradients[1].defined() ? of_x + gradients[1] : of_x, {}};
    }
    const auto format = channels_last_format(of_y);
    const at::Tensor up = lying_densely(of_y, format);
    at::Tensor through = gradients[1];
    std::int64_t step = through.defined() ? step_of(through) : 0;
    if (through.defined() && step == 0) {
      through = lying_densely(through, format);
      step = through.size(1);
    }
    const at::Tensor of_x = at::empty(sizes, up.options().memory_format(format));
    window_pool_kernels.backward({.pool = window_pool_of(sizes, up.scalar_type(), window),
                                  .of_y = up.const_data_ptr(),
                                  .places = places.const_data_ptr<std::uint8_t>(),
                                  .of_through = data_of(through),
                                  .through_step = step,
                                  .of_x = of_x.mutable_data_ptr()});
    return {of_x, {}};
  }
};

}  // namespace

bool window_pool_serves(const at::Tensor& x, at::IntArrayRef window) {
  if (!x.is_cuda() || window_pool_kernels.forward == nullptr || !kernel_dtype(x.scalar_type()) ||
      x.numel() == 0 || x.suggest_memory_format() == at::MemoryFormat::Contiguous)
    return false;
  std::int64_t places = 1;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::int64_t size = x.size(static_cast<std::int64_t>(i) + 2);
    if (window[i] < 1 || window[i] > std::min(size, window_pool_most_places)) return false;
    places *= window[i];
  }
  return places <= window_pool_most_places && x.size(-1) * x.size(1) <= window_pool_most_line;
}

PooledWindows pool_windows_by_kernel(const at::Tensor& x, at::IntArrayRef window) {
  const auto both = WindowPooled::apply(x, window.vec());
  return {both[0], both[1]};
}

void register_cuda_window_pool(WindowPoolKernels kernels) { window_pool_kernels = kernels; }

}  // namespace lockstep
