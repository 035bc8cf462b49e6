// Versions of resizing and pooling operators that add in a fixed order.
#include "core/base/check.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace lockstep {
namespace {

using Lengths = std::vector<std::int64_t>;

bool is_channels_last(const at::Tensor& x) {
  return x.suggest_memory_format() != at::MemoryFormat::Contiguous;
}

// Moves the channels of x [B, C, spatial…] last, as in channels-last memory, and back.
at::Tensor as_it_lies(const at::Tensor& x) { return x.movedim(1, -1).contiguous(); }
at::Tensor back_from(const at::Tensor& x) { return x.movedim(-1, 1); }

// Returns the matrix of spatial dimension d, f64 [new size, size].
using MatrixOf = std::function<at::Tensor(std::size_t d)>;

// Multiplies x by a matrix along each spatial axis, in f32 (f64 if x is f64). Inputs are rounded to
// TF32 if matmul.tf32 allows it. The result is rounded to x's type once, at the end.
at::Tensor along_axes(const at::Tensor& x, const MatrixOf& matrix_of) {
  const bool last = is_channels_last(x);
  const auto work = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  at::Tensor y = (last ? as_it_lies(x) : x.contiguous()).to(work);
  const std::int64_t first = last ? 1 : 2;
  for (std::int64_t d = 0; d < x.dim() - 2; ++d) {
    Lengths sizes = y.sizes().vec();
    const auto axis = static_cast<std::size_t>(first + d);
    std::int64_t before = 1, behind = 1;
    for (std::size_t i = 0; i < axis; ++i) before *= sizes[i];
    for (std::size_t i = axis + 1; i < sizes.size(); ++i) behind *= sizes[i];
    const at::Tensor matrix = matrix_of(static_cast<std::size_t>(d)).to(work);
    y = at::matmul(matrix, y.reshape({before, sizes[axis], behind}));
    sizes[axis] = matrix.size(0);
    y = y.reshape(sizes);
  }
  y = y.to(x.scalar_type());
  return last ? back_from(y) : y;
}

// The numbers 0 to count - 1 in f64, made on x's device. Nothing comes from the host, so a graph
// can capture this.
at::Tensor numbers(std::int64_t count, const at::Tensor& x) {
  return at::arange(count, x.options().dtype(at::kDouble).requires_grad(false));
}

// A matrix with 1 / count[o] where begin[o] <= i < end[o], and 0 elsewhere.
at::Tensor means_of(const at::Tensor& begin, const at::Tensor& end, const at::Tensor& count,
                    std::int64_t size, const at::Tensor& x) {
  const at::Tensor i = numbers(size, x);
  return i.ge(begin.unsqueeze(1))
      .logical_and(i.lt(end.unsqueeze(1)))
      .to(at::kDouble)
      .div(count.unsqueeze(1));
}

// The place of each maximum among the elements of all planes, [B * C * results]. Element k of plane
// p is at p * size + k.
at::Tensor flat_places(const at::Tensor& indices, std::int64_t size) {
  const at::Tensor planes = at::arange(indices.size(0) * indices.size(1), indices.options());
  return indices.flatten(2).flatten(0, 1).add(planes.unsqueeze(1).mul(size)).flatten();
}

struct MaxPoolInOrder : torch::autograd::Function<MaxPoolInOrder> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const Lengths& window, const Lengths& stride, const Lengths& padding) {
    const auto [out, indices] = x.dim() == 4
                                    ? at::max_pool2d_with_indices(x, window, stride, padding)
                                    : at::max_pool3d_with_indices(x, window, stride, padding);
    context->save_for_backward({indices});
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["channels_last"] = is_channels_last(x);
    return out;
  }

  // Uses operators that are differentiable themselves.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}, {}};
    const at::Tensor indices = context->get_saved_variables()[0];
    const Lengths sizes = context->saved_data["sizes"].toIntVector();
    std::int64_t plane = 1;
    for (std::size_t d = 2; d < sizes.size(); ++d) plane *= sizes[d];
    const at::Tensor values = gradients[0].flatten(2).flatten();
    at::Tensor of_x = at::zeros({sizes[0] * sizes[1] * plane}, values.options())
                          .index_put({flat_places(indices, plane)}, values, /*accumulate=*/true)
                          .view(sizes);
    if (context->saved_data["channels_last"].toBool())
      of_x = of_x.contiguous(sizes.size() == 4 ? at::MemoryFormat::ChannelsLast
                                               : at::MemoryFormat::ChannelsLast3d);
    return {of_x, {}, {}, {}};
  }
};

}  // namespace

at::Tensor upsample_linear_in_order(const at::Tensor& x, at::IntArrayRef sizes,
                                    bool align_corners) {
  return along_axes(x, [&](std::size_t d) {
    const std::int64_t in = x.size(static_cast<std::int64_t>(d) + 2), out = sizes[d];
    const auto ratio = static_cast<double>(in) / static_cast<double>(out);
    at::Tensor source = numbers(out, x);
    if (align_corners)
      source = source * (out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0);
    else
      source = (source + 0.5) * ratio - 0.5;
    source = source.clamp(0, in - 1);
    // A linear hat function of half-width 1 around each element of the input.
    return (source.unsqueeze(1) - numbers(in, x)).abs().neg().add(1).clamp_min(0);
  });
}

at::Tensor average_pool_in_order(const at::Tensor& x, at::IntArrayRef window,
                                 at::IntArrayRef stride, at::IntArrayRef padding) {
  return along_axes(x, [&](std::size_t d) {
    const std::int64_t in = x.size(static_cast<std::int64_t>(d) + 2);
    const std::int64_t out = (in + 2 * padding[d] - window[d]) / stride[d] + 1;
    const at::Tensor begin = numbers(out, x) * stride[d] - padding[d];
    const at::Tensor end = (begin + window[d]).clamp_max(in + padding[d]);
    return means_of(begin, end, end - begin, in, x);
  });
}

at::Tensor adaptive_average_pool_in_order(const at::Tensor& x, at::IntArrayRef sizes) {
  return along_axes(x, [&](std::size_t d) {
    const std::int64_t in = x.size(static_cast<std::int64_t>(d) + 2), out = sizes[d];
    const at::Tensor place = numbers(out, x);
    const at::Tensor begin = (place * in).div(out, "floor");
    const at::Tensor end = ((place + 1) * in + (out - 1)).div(out, "floor");
    return means_of(begin, end, end - begin, in, x);
  });
}

at::Tensor max_pool_in_order(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                             at::IntArrayRef padding) {
  return MaxPoolInOrder::apply(x, window.vec(), stride.vec(), padding.vec());
}

}  // namespace lockstep
