// Products with factors per channel, by our kernels or with ATen's operators.
#include "ops/channel_products/channel_products.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

ChannelProductsKernels channel_products_kernels;  // set once, before the first step

constexpr auto maps_format = at::MemoryFormat::ChannelsLast;

// x must be channels-last, and factors contiguous.
ChannelProducts arguments_for(const at::Tensor& x, const at::Tensor& factors) {
  return {.x = x.const_data_ptr(),
          .factors = factors.const_data_ptr(),
          .dtype = kernel_dtype(x.scalar_type()).value(),
          .items = x.size(0),
          .sets = factors.size(0),
          .places = x.size(2) * x.size(3),
          .channels = x.size(1)};
}

bool channel_products_serve(const at::Tensor& x, const at::Tensor& factors) {
  return x.is_cuda() && channel_products_kernels.forward != nullptr && x.numel() > 0 &&
         factors.numel() > 0 && kernel_dtype(x.scalar_type()) &&
         factors.scalar_type() == x.scalar_type() && x.size(1) % 8 == 0 &&
         x.is_contiguous(maps_format) && aligned(x) && factors.size(0) <= channel_products_most;
}

at::Tensor aligned_factors(const at::Tensor& factors) {
  const at::Tensor dense = factors.contiguous();
  return aligned(dense) ? dense : dense.clone();
}

struct ChannelProductsFunction : torch::autograd::Function<ChannelProductsFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& factors) {
    const at::Tensor dense = aligned_factors(factors);
    at::Tensor out = at::empty({x.size(0) * factors.size(0), x.size(1), x.size(2), x.size(3)},
                               x.options().memory_format(maps_format));
    ChannelProducts arguments = arguments_for(x, dense);
    arguments.out = out.mutable_data_ptr();
    channel_products_kernels.forward(arguments);
    context->save_for_backward({x, factors});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &factors = saved[1];
    if (is_differentiated()) {
      const auto by_aten = [](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{channel_products_reference(in[0], in[1])};
      };
      return differentiable_gradients(by_aten, saved, gradients);
    }
    const at::Tensor lying = gradients[0].contiguous(maps_format);
    const at::Tensor up = aligned(lying) ? lying : lying.clone();
    const at::Tensor dense = aligned_factors(factors);
    ChannelProducts arguments = arguments_for(x, dense);
    at::Tensor of_x, of_factors, partial;
    arguments.of_out = up.const_data_ptr();
    if (context->needs_input_grad(0)) {
      of_x = at::empty(x.sizes(), x.options().memory_format(maps_format));
      arguments.of_x = of_x.mutable_data_ptr();
    }
    if (context->needs_input_grad(1)) {
      const std::int64_t all = arguments.items * arguments.places;
      arguments.chunks = (all + channel_products_chunk - 1) / channel_products_chunk;
      of_factors = at::empty(factors.sizes(), x.options());
      partial = at::empty({arguments.chunks, arguments.sets, arguments.channels},
                          x.options().dtype(at::kFloat));
      arguments.of_factors = of_factors.mutable_data_ptr();
      arguments.partial = partial.mutable_data_ptr<float>();
    }
    channel_products_kernels.backward(arguments);
    return {of_x, of_factors};
  }
};

}  // namespace

at::Tensor channel_products_reference(const at::Tensor& x, const at::Tensor& factors) {
  return x.unsqueeze(1)
      .mul(factors.reshape({1, factors.size(0), factors.size(1), 1, 1}))
      .flatten(0, 1);
}

at::Tensor channel_products(const at::Tensor& x, const at::Tensor& factors) {
  if (x.dim() != 4 || factors.dim() != 2 || factors.size(1) != x.size(1) ||
      !x.is_floating_point() || !factors.is_floating_point())
    throw Error(cat(
        "channel_products wants floating maps [B, C, H, W] and factors [N, C], but got ", x.sizes(),
        " of ", x.scalar_type(), " and ", factors.sizes(), " of ", factors.scalar_type()));
  if (!channel_products_serve(x, factors)) return channel_products_reference(x, factors);
  return ChannelProductsFunction::apply(x, factors);
}

void register_cuda_channel_products(ChannelProductsKernels kernels) {
  channel_products_kernels = kernels;
}

}  // namespace lockstep
