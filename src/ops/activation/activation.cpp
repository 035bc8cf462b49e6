// Bias and activation as one operation with gradients.
#include "ops/activation/activation.h"

#include "core/base/check.h"
#include "ops/column_sums/column_sums.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <torch/csrc/autograd/custom_function.h>

namespace lockstep {
namespace {

ActivationKernels activation_kernels;  // set once, before the first step

// The kernels use vectors of eight within a row, so rows must be a multiple of eight long.
bool activation_kernels_serve(const at::Tensor& x, const at::Tensor& other,
                              const at::Tensor& bias) {
  return x.is_cuda() && activation_kernels.forward != nullptr && kernel_dtype(x.scalar_type()) &&
         x.numel() > 0 && x.size(-1) % 8 == 0 && aligned(x) && aligned(other) && aligned(bias) &&
         (!bias.defined() || bias.scalar_type() == x.scalar_type());
}

ActivationArguments activation_arguments_of(const at::Tensor& x, const at::Tensor& bias,
                                            const at::Tensor& gradient, const at::Tensor& out,
                                            Activation kind) {
  return {.x = x.const_data_ptr(),
          .bias = data_of(bias),
          .gradient = data_of(gradient),
          .out = out.mutable_data_ptr(),
          .dtype = *kernel_dtype(x.scalar_type()),
          .elements = x.numel(),
          .columns = x.size(-1),
          .kind = kind};
}

const char* approximation(Activation kind) {
  return kind == Activation::gelu_tanh ? "tanh" : "none";
}

at::Tensor activation_by_aten(const at::Tensor& x, const at::Tensor& bias, Activation kind) {
  const at::Tensor sum = bias.defined() ? x.add(bias) : x;
  return kind == Activation::relu ? at::relu(sum) : at::gelu(sum, approximation(kind));
}

at::Tensor forward_of(const at::Tensor& x, const at::Tensor& bias, Activation kind) {
  if (!activation_kernels_serve(x, {}, bias)) return activation_by_aten(x, bias, kind);
  at::Tensor out = at::empty_like(x);
  activation_kernels.forward(activation_arguments_of(x, bias, {}, out, kind));
  return out;
}

// x: the input; for relu, the result, without a bias.
at::Tensor backward_of(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& bias,
                       Activation kind) {
  if (!activation_kernels_serve(x, gradient, bias)) {
    if (kind == Activation::relu) return at::threshold_backward(gradient, x, 0);
    return at::gelu_backward(gradient, bias.defined() ? x.add(bias) : x, approximation(kind));
  }
  at::Tensor out = at::empty_like(x);
  activation_kernels.backward(activation_arguments_of(x, bias, gradient, out, kind));
  return out;
}

struct BiasActivation : torch::autograd::Function<BiasActivation> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& bias_or_none, std::int64_t kind) {
    const at::Tensor bias = bias_or_none.value_or(at::Tensor());
    const auto activation = static_cast<Activation>(kind);
    at::Tensor y = forward_of(x.contiguous(), bias, activation);
    context->save_for_backward({activation == Activation::relu ? y : x, bias});
    context->saved_data["kind"] = kind;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor& bias = saved[1];
    const auto kind = static_cast<Activation>(context->saved_data["kind"].toInt());
    const bool relu = kind == Activation::relu;
    if (is_differentiated()) {
      if (relu) {
        const at::Tensor of_x = gradients[0].masked_fill(saved[0].le(0), 0);
        return {of_x, bias.defined() ? of_x.sum_to_size(bias.sizes()) : at::Tensor(), {}};
      }
      const auto again = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{activation_by_aten(in[0], in[1], kind)};
      };
      const auto both = differentiable_gradients(again, saved, gradients);
      return {both[0], both[1], {}};
    }
    const at::Tensor of_x = backward_of(gradients[0].contiguous(), saved[0].contiguous(),
                                        relu ? at::Tensor() : bias, kind);
    const bool needs_bias = bias.defined() && context->needs_input_grad(1);
    GradientWriter writer({{.parameter = bias, .needed = needs_bias}}, bytes_of({of_x}));
    if (needs_bias)
      writer.run({of_x}, [of_bias = writer.open_or_zeros(0).into, of_x] {
        add_column_sums(of_bias, of_x);
      });
    return {of_x, writer.returned(0), {}};
  }
};

at::Tensor activated(const at::Tensor& x, const at::Tensor& bias, Activation kind) {
  LOCKSTEP_CHECK(x.dim() >= 1);
  LOCKSTEP_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == x.size(-1)));
  return BiasActivation::apply(x, if_defined(bias), static_cast<std::int64_t>(kind));
}

}  // namespace

at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias, bool tanh) {
  return activated(x, bias, tanh ? Activation::gelu_tanh : Activation::gelu);
}

at::Tensor bias_relu(const at::Tensor& x, const at::Tensor& bias) {
  return activated(x, bias, Activation::relu);
}

void register_cuda_activation(ActivationKernels kernels) { activation_kernels = kernels; }

}  // namespace lockstep
