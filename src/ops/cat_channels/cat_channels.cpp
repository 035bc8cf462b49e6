// Joins the channels of two tensors, by our kernels or by at::cat.
#include "ops/cat_channels/cat_channels.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <vector>

namespace lockstep {
namespace {

CatChannelsKernels cat_channels_kernels;  // set once, before the first step

void check_cat_channels(const at::Tensor& a, const at::Tensor& b) {
  const bool spatial = (a.dim() == 4 || a.dim() == 5) && a.is_floating_point();
  if (spatial && b.dim() == a.dim() && a.size(0) == b.size(0) &&
      a.sizes().slice(2) == b.sizes().slice(2) && a.scalar_type() == b.scalar_type() &&
      a.device() == b.device())
    return;
  throw Error(
      cat("cat_channels wants two floating [B, C, H, W] or [B, C, D, H, W] of one type "
          "that differ in their channels alone, but got ",
          a.sizes(), " of ", a.scalar_type(), " on ", a.device().str(), " and ", b.sizes(), " of ",
          b.scalar_type(), " on ", b.device().str()));
}

at::MemoryFormat joined_format(const at::Tensor& a, const at::Tensor& b) {
  const auto plain = at::MemoryFormat::Contiguous;
  const bool last = a.suggest_memory_format() != plain || b.suggest_memory_format() != plain;
  return last ? channels_last_format(a) : plain;
}

std::vector<std::int64_t> with_channels(at::IntArrayRef sizes, std::int64_t channels) {
  std::vector<std::int64_t> all = sizes.vec();
  all[1] = channels;
  return all;
}

bool serves(const at::Tensor& both_like, std::int64_t channels, at::MemoryFormat format) {
  const auto width = static_cast<std::int64_t>(both_like.element_size());
  return both_like.is_cuda() && cat_channels_kernels.join != nullptr &&
         format != at::MemoryFormat::Contiguous && both_like.numel() > 0 && width >= 2 &&
         channels * width <= cat_channels_most_bytes;
}

// both: the joined tensor. Either a or b may be undefined.
CatChannels cat_arguments_of(const at::Tensor& a, const at::Tensor& b, const at::Tensor& both,
                             std::int64_t a_channels) {
  const auto place = [](const at::Tensor& tensor) {
    return tensor.defined() ? const_cast<void*>(tensor.const_data_ptr()) : nullptr;
  };
  const auto width = static_cast<std::int64_t>(both.element_size());
  const std::int64_t channels = both.size(1);
  return {.a = place(a),
          .b = place(b),
          .both = place(both),
          .rows = both.numel() / channels,
          .a_bytes = a_channels * width,
          .b_bytes = (channels - a_channels) * width};
}

struct Cat : torch::autograd::Function<Cat> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& a,
                            const at::Tensor& b) {
    const auto format = joined_format(a, b);
    const std::int64_t channels = a.size(1) + b.size(1);
    context->saved_data["first"] = a.size(1);
    context->saved_data["channels_last"] = format != at::MemoryFormat::Contiguous;
    if (!serves(a, channels, format) || b.numel() == 0)
      return at::cat({a, b}, 1).contiguous(format);
    const at::Tensor rows_a = lying_densely(a, format), rows_b = lying_densely(b, format);
    const at::Tensor both =
        at::empty(with_channels(a.sizes(), channels), a.options().memory_format(format));
    cat_channels_kernels.join(cat_arguments_of(rows_a, rows_b, both, a.size(1)));
    return both;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor& of_both = gradients[0];
    if (!of_both.defined()) return {{}, {}};
    const std::int64_t first = context->saved_data["first"].toInt();
    const std::int64_t second = of_both.size(1) - first;
    const auto format = context->saved_data["channels_last"].toBool()
                            ? channels_last_format(of_both)
                            : at::MemoryFormat::Contiguous;
    const bool wants_a = context->needs_input_grad(0), wants_b = context->needs_input_grad(1);
    if (is_differentiated() || first == 0 || second == 0 ||
        !serves(of_both, of_both.size(1), format))
      return {wants_a ? of_both.narrow(1, 0, first).contiguous(format) : at::Tensor(),
              wants_b ? of_both.narrow(1, first, second).contiguous(format) : at::Tensor()};
    const at::Tensor rows = lying_densely(of_both, format);
    const auto fresh = [&](std::int64_t channels) {
      return at::empty(with_channels(of_both.sizes(), channels),
                       of_both.options().memory_format(format));
    };
    const at::Tensor of_a = wants_a ? fresh(first) : at::Tensor(),
                     of_b = wants_b ? fresh(second) : at::Tensor();
    cat_channels_kernels.part(cat_arguments_of(of_a, of_b, rows, first));
    return {of_a, of_b};
  }
};

}  // namespace

at::Tensor cat_channels(const at::Tensor& a, const at::Tensor& b) {
  check_cat_channels(a, b);
  return Cat::apply(a, b);
}

void register_cuda_cat_channels(CatChannelsKernels kernels) { cat_channels_kernels = kernels; }

}  // namespace lockstep
