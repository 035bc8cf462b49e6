// The operation as torch knows it: its schema, its gradient, and ATen's operators for every device
// that has no kernel. rbf.cu adds the kernels of GPUs.
#include "rbf.h"

#include <lockstep/ops/shared/second_derivative.h>

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace own_kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Gradients backward_by_aten(const at::Tensor& gradient, const at::Tensor& x,
                           const at::Tensor& centres, const at::Tensor& scales, bool of_x) {
  const auto wide = at::toOpMathType(x.scalar_type());
  const at::Tensor s = scales.to(wide);
  const at::Tensor apart = x.to(wide).unsqueeze(1) - centres.to(wide);  // [B, K, D]
  const at::Tensor squares = apart.square().sum(2);
  const at::Tensor t = gradient.to(wide) * (squares * s.square()).neg().exp();
  const at::Tensor pull = (2 * t * s.square()).unsqueeze(2) * apart;
  return {of_x ? pull.sum(1).neg().to(x.scalar_type()) : at::Tensor(),
          pull.sum(0).to(x.scalar_type()), (-2 * t * s * squares).sum(0).to(x.scalar_type())};
}

// The kernel of the tensors' device, by torch's dispatcher.
at::Tensor forward_of(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales) {
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("own_kernel::rbf", "")
                                    .typed<decltype(rbf_by_aten)>();
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return operation.call(x, centres, scales);
}

Gradients backward_of(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& centres,
                      const at::Tensor& scales, bool of_x) {
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("own_kernel::rbf_backward", "")
                                    .typed<decltype(backward_by_aten)>();
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return operation.call(gradient, x, centres, scales, of_x);
}

struct Rbf : torch::autograd::Function<Rbf> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& centres, const at::Tensor& scales) {
    context->save_for_backward({x, centres, scales});
    return forward_of(x, centres, scales);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list in = context->get_saved_variables();
    // A penalty on a gradient differentiates this pass itself, which no kernel can.
    if (lockstep::is_differentiated())
      return lockstep::differentiable_gradients(
          [](const variable_list& in) { return variable_list{rbf_by_aten(in[0], in[1], in[2])}; },
          in, gradients);
    const auto [of_x, of_centres, of_scales] =
        backward_of(gradients[0], in[0], in[1], in[2], context->needs_input_grad(0));
    return {of_x, of_centres, of_scales};
  }
};

}  // namespace

at::Tensor rbf_by_aten(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales) {
  const auto wide = at::toOpMathType(x.scalar_type());
  const at::Tensor apart = x.to(wide).unsqueeze(1) - centres.to(wide);
  const at::Tensor squares = apart.square().sum(2) * scales.to(wide).square();
  return squares.neg().exp().to(x.scalar_type());
}

at::Tensor rbf(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales) {
  return Rbf::apply(x, centres, scales);
}

TORCH_LIBRARY(own_kernel, library) {
  library.def("rbf(Tensor x, Tensor centres, Tensor scales) -> Tensor");
  library.def(
      "rbf_backward(Tensor gradient, Tensor x, Tensor centres, Tensor scales, bool of_x) -> "
      "(Tensor, Tensor, Tensor)");
}

// For every device; what rbf.cu registers for CUDA comes before it.
TORCH_LIBRARY_IMPL(own_kernel, CompositeExplicitAutograd, library) {
  library.impl("rbf", rbf_by_aten);
  library.impl("rbf_backward", backward_by_aten);
}

}  // namespace own_kernel
