#include "ops/linear_of_rows/linear_of_rows.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/linear/linear.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {
namespace {

HeadKernels head_kernels;  // set once, before the first step

bool head_kernels_serve(const at::Tensor& hidden, const at::Tensor& rows, const at::Tensor& weight,
                        const at::Tensor& bias) {
  return hidden.is_cuda() && head_kernels.forward != nullptr &&
         kernel_dtype(hidden.scalar_type()) && rows.numel() > 0 && rows.numel() <= head_most_rows &&
         weight.size(0) > 0 && weight.size(0) <= head_most_outputs && hidden.size(1) % 8 == 0 &&
         weight.is_contiguous() && aligned(hidden) && aligned(weight) && aligned(bias);
}

void check_heads(const at::Tensor& hidden, const at::Tensor& rows, const at::Tensor& weight,
                 const at::Tensor& bias) {
  if (hidden.dim() != 2 || !hidden.is_floating_point())
    throw Error(cat("linear_of_rows wants floating [N, D], but got ", hidden.sizes(), " of ",
                    hidden.scalar_type()));
  if (rows.dim() != 1 || rows.scalar_type() != at::kLong || rows.device() != hidden.device())
    throw Error(cat("linear_of_rows wants rows of i64 [S] on ", hidden.device(), ", but got ",
                    rows.sizes(), " of ", rows.scalar_type(), " on ", rows.device()));
  const auto fits = [&](const at::Tensor& parameter) {
    return parameter.scalar_type() == hidden.scalar_type() && parameter.device() == hidden.device();
  };
  if (weight.dim() != 2 || weight.size(1) != hidden.size(1) || !fits(weight))
    throw Error(cat("linear_of_rows wants a weight of ", hidden.scalar_type(), " [O, ",
                    hidden.size(1), "], but got ", weight.sizes(), " of ", weight.scalar_type()));
  if (bias.defined() && (bias.sizes() != weight.sizes().slice(0, 1) || !fits(bias)))
    throw Error(cat("linear_of_rows wants a bias of ", hidden.scalar_type(), " [", weight.size(0),
                    "], but got ", bias.sizes(), " of ", bias.scalar_type()));
}

HeadArguments head_arguments_of(const at::Tensor& hidden, const at::Tensor& rows,
                                const at::Tensor& weight) {
  return {.hidden = hidden.const_data_ptr(),
          .weight = weight.const_data_ptr(),
          .rows = rows.const_data_ptr<std::int64_t>(),
          .dtype = *kernel_dtype(hidden.scalar_type()),
          .all = hidden.size(0),
          .count = rows.size(0),
          .outputs = weight.size(0),
          .width = hidden.size(1)};
}

struct LinearOfRows : torch::autograd::Function<LinearOfRows> {
  // beside: whether hidden is returned as a second result.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& hidden, const at::Tensor& rows,
                                                const at::Tensor& weight,
                                                const std::optional<at::Tensor>& bias,
                                                bool beside) {
    const at::Tensor dense = hidden.contiguous(), places = rows.contiguous();
    const at::Tensor out = at::empty({rows.size(0), weight.size(0)}, hidden.options());
    head_kernels.forward({.shared = head_arguments_of(dense, places, weight),
                          .bias = bias ? bias->const_data_ptr() : nullptr,
                          .out = out.mutable_data_ptr()});
    context->set_materialize_grads(false);
    context->save_for_backward({hidden, rows, weight, bias.value_or(at::Tensor())});
    if (!beside) return {out};
    return {out, hidden.detach()};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor other = gradients.size() > 1 ? gradients[1] : at::Tensor();
    if (!gradients[0].defined()) return {other, {}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor &weight = saved[2], &bias = saved[3];
    if (is_differentiated()) {
      const auto found = differentiable_gradients(
          [&](const std::vector<at::Tensor>& in) {
            return std::vector{
                at::linear(in[0].index_select(0, saved[1]), in[1], if_defined(in[2]))};
          },
          {saved[0], weight, bias}, {gradients[0]});
      const bool both = other.defined() && found[0].defined();
      return {both ? found[0].add(other) : found[0], {}, found[1], found[2], {}};
    }
    const at::Tensor hidden = saved[0].contiguous(), rows = saved[1].contiguous();
    HeadBackward backward{.shared = head_arguments_of(hidden, rows, weight)};
    const at::Tensor of_out = gradients[0].contiguous();
    backward.of_out = of_out.const_data_ptr();
    const bool needs_weight = context->needs_input_grad(2);
    const bool needs_bias = bias.defined() && context->needs_input_grad(3);
    GradientWriter writer(
        {{.parameter = weight, .needed = needs_weight}, {.parameter = bias, .needed = needs_bias}},
        bytes_of({hidden, of_out}));
    if (needs_weight || needs_bias) {
      HeadBackward of_parameters = backward;
      if (needs_weight)
        of_parameters.of_weight = writer.open_or_zeros(0).into.mutable_data_ptr<float>();
      if (needs_bias)
        of_parameters.of_bias = writer.open_or_zeros(1).into.mutable_data_ptr<float>();
      writer.run({hidden, rows, of_out},
                 [of_parameters] { head_kernels.of_weight(of_parameters); });
    }
    at::Tensor of_hidden = other;
    if (context->needs_input_grad(0)) {
      of_hidden = at::empty_like(hidden);
      at::Tensor besides = other.defined() ? other.contiguous() : at::Tensor();
      if (!aligned(besides)) besides = besides.clone();
      backward.other = data_of(besides);
      backward.of_hidden = of_hidden.mutable_data_ptr();
      head_kernels.of_hidden(backward);
    }
    return {of_hidden, {}, writer.returned(0), writer.returned(1), {}};
  }
};

}  // namespace

at::Tensor linear_of_rows(const at::Tensor& hidden, const at::Tensor& rows,
                          const at::Tensor& weight, const at::Tensor& bias) {
  check_heads(hidden, rows, weight, bias);
  if (!head_kernels_serve(hidden, rows, weight, bias))
    return linear_layer(hidden.index_select(0, rows), weight, bias);
  return LinearOfRows::apply(hidden, rows, weight, if_defined(bias), /*beside=*/false)[0];
}

std::tuple<at::Tensor, at::Tensor> linear_of_rows_beside(const at::Tensor& hidden,
                                                         const at::Tensor& rows,
                                                         const at::Tensor& weight,
                                                         const at::Tensor& bias) {
  check_heads(hidden, rows, weight, bias);
  if (!head_kernels_serve(hidden, rows, weight, bias))
    return {linear_layer(hidden.index_select(0, rows), weight, bias), hidden};
  const auto both = LinearOfRows::apply(hidden, rows, weight, if_defined(bias), /*beside=*/true);
  return {both[0], both[1]};
}

void register_cuda_heads(HeadKernels kernels) { head_kernels = kernels; }

}  // namespace lockstep
