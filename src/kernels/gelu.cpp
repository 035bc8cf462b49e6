// Bias and GELU as one operation with gradients.
#include "kernels/gelu.h"

#include "base/check.h"
#include "kernels/column_sums.h"
#include "kernels/gradient_sink.h"
#include "kernels/own_kernels.h"
#include "kernels/second_derivative.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <torch/csrc/autograd/custom_function.h>

namespace lockstep {
namespace {

GeluKernels gelu_kernels;  // set once, before the first step

const char* approximation(bool tanh) { return tanh ? "tanh" : "none"; }

// Vectors of eight within a row, so that a column is known from the place.
bool gelu_kernels_serve(const at::Tensor& x, const at::Tensor& other, const at::Tensor& bias) {
  return x.is_cuda() && gelu_kernels.forward != nullptr && kernel_dtype(x.scalar_type()) &&
         x.numel() > 0 && x.size(-1) % 8 == 0 && aligned(x) && aligned(other) && aligned(bias) &&
         (!bias.defined() || bias.scalar_type() == x.scalar_type());
}

GeluArguments arguments_of(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& gradient,
                           const at::Tensor& out, bool tanh) {
  return {.x = x.const_data_ptr(),
          .bias = data_of(bias),
          .gradient = data_of(gradient),
          .out = out.mutable_data_ptr(),
          .dtype = *kernel_dtype(x.scalar_type()),
          .elements = x.numel(),
          .columns = x.size(-1),
          .tanh = tanh};
}

at::Tensor with_bias(const at::Tensor& x, const at::Tensor& bias) {
  return bias.defined() ? x.add(bias) : x;
}

at::Tensor forward_of(const at::Tensor& x, const at::Tensor& bias, bool tanh) {
  if (!gelu_kernels_serve(x, {}, bias)) return at::gelu(with_bias(x, bias), approximation(tanh));
  at::Tensor out = at::empty_like(x);
  gelu_kernels.forward(arguments_of(x, bias, {}, out, tanh));
  return out;
}

at::Tensor backward_of(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& bias,
                       bool tanh) {
  if (!gelu_kernels_serve(x, gradient, bias))
    return at::gelu_backward(gradient, with_bias(x, bias), approximation(tanh));
  at::Tensor out = at::empty_like(x);
  gelu_kernels.backward(arguments_of(x, bias, gradient, out, tanh));
  return out;
}

struct BiasGelu : torch::autograd::Function<BiasGelu> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& bias_or_none, bool tanh) {
    const at::Tensor bias = bias_or_none.value_or(at::Tensor());
    context->save_for_backward({x, bias});
    context->saved_data["tanh"] = tanh;
    return forward_of(x.contiguous(), bias, tanh);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor& bias = saved[1];
    const bool tanh = context->saved_data["tanh"].toBool();
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{at::gelu(with_bias(in[0], in[1]), approximation(tanh))};
      };
      const auto both = differentiable_gradients(by_aten, saved, gradients);
      return {both[0], both[1], {}};
    }
    const at::Tensor of_x =
        backward_of(gradients[0].contiguous(), saved[0].contiguous(), bias, tanh);
    const Sink of_bias = sink_of(bias, bias.defined() && context->needs_input_grad(1));
    if (of_bias.needed) add_column_sums(of_bias.f32, of_x);
    return {of_x, of_bias.returned(bias), {}};
  }
};

}  // namespace

at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias, bool tanh) {
  LOCKSTEP_CHECK(x.dim() >= 1);
  LOCKSTEP_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == x.size(-1)));
  return BiasGelu::apply(x, if_defined(bias), tanh);
}

void register_cuda_gelu(GeluKernels kernels) { gelu_kernels = kernels; }

}  // namespace lockstep
