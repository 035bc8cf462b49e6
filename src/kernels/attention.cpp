// One autograd node from the packed projections to the heads' results.
#include "kernels/attention.h"

#include "base/check.h"
#include "kernels/own_kernels.h"
#include "kernels/second_derivative.h"

#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/csrc/autograd/custom_function.h>

namespace lockstep {
namespace {

AttentionKernels attention_kernels;  // set once, before the first step

AttentionArguments arguments_of(const at::Tensor& qkv) {
  return {.qkv = qkv.const_data_ptr(),
          .dtype = *kernel_dtype(qkv.scalar_type()),
          .batch = qkv.size(0),
          .length = qkv.size(1),
          .heads = qkv.size(3),
          .width = qkv.size(4)};
}

bool attention_kernels_serve(const at::Tensor& qkv) {
  const auto dtype = kernel_dtype(qkv.scalar_type());
  return qkv.is_cuda() && attention_kernels.serves != nullptr && qkv.numel() > 0 && dtype &&
         *dtype != KernelDtype::f32 && aligned(qkv) && attention_kernels.serves(arguments_of(qkv));
}

// In operators that can be differentiated any number of times.
at::Tensor by_plain_operators(const at::Tensor& qkv) {
  const auto parts = qkv.unbind(2);
  return std::get<0>(at::_scaled_dot_product_attention_math(
                         parts[0].transpose(1, 2), parts[1].transpose(1, 2),
                         parts[2].transpose(1, 2), {}, 0.0, true))
      .transpose(1, 2);
}

struct PackedAttention : torch::autograd::Function<PackedAttention> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& qkv) {
    AttentionArguments arguments = arguments_of(qkv);
    at::Tensor out = at::empty({qkv.size(0), qkv.size(1), qkv.size(3), qkv.size(4)}, qkv.options());
    at::Tensor log_sums =
        at::empty({qkv.size(0), qkv.size(3), qkv.size(1)}, qkv.options().dtype(at::kFloat));
    arguments.out = out.mutable_data_ptr();
    arguments.log_sums = log_sums.mutable_data_ptr<float>();
    attention_kernels.forward(arguments);
    context->save_for_backward({qkv, out, log_sums});
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}};
    const auto saved = context->get_saved_variables();
    if (is_differentiated())
      return differentiable_gradients(
          [](const std::vector<at::Tensor>& in) {
            return std::vector<at::Tensor>{by_plain_operators(in[0])};
          },
          {saved[0]}, gradients);
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor of_qkv = at::empty_like(saved[0]);
    AttentionArguments arguments = arguments_of(saved[0]);
    arguments.out = saved[1].mutable_data_ptr();
    arguments.log_sums = saved[2].mutable_data_ptr<float>();
    arguments.of_out = gradient.const_data_ptr();
    arguments.of_qkv = of_qkv.mutable_data_ptr();
    attention_kernels.backward(arguments);
    return {of_qkv};
  }
};

at::Tensor by_aten(const at::Tensor& qkv) {
  // unbind's backward is one stack, where three slices would each write a whole zero tensor.
  const auto parts = qkv.unbind(2);
  return at::scaled_dot_product_attention(parts[0].transpose(1, 2), parts[1].transpose(1, 2),
                                          parts[2].transpose(1, 2), {}, 0.0, true)
      .transpose(1, 2);
}

}  // namespace

at::Tensor packed_causal_attention(const at::Tensor& qkv) {
  LOCKSTEP_CHECK(qkv.dim() == 5 && qkv.size(2) == 3 && qkv.is_contiguous());
  return attention_kernels_serve(qkv) ? PackedAttention::apply(qkv) : by_aten(qkv);
}

void register_cuda_attention(AttentionKernels kernels) { attention_kernels = kernels; }

}  // namespace lockstep
