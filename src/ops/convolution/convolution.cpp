#include "ops/convolution/convolution.h"

#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <optional>
#include <tuple>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor convolution_by_aten(const at::Tensor& x, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias,
                               const ConvolutionShape& shape) {
  return at::convolution(x, weight, bias, shape.stride, shape.padding, /*dilation=*/{1},
                         /*transposed=*/false, /*output_padding=*/{0}, shape.groups);
}

// wanted: which gradients are needed, of x, weight and bias.
std::tuple<at::Tensor, at::Tensor, at::Tensor> gradients_by_aten(const at::Tensor& up,
                                                                 const variable_list& saved,
                                                                 const ConvolutionShape& shape,
                                                                 std::array<bool, 3> wanted) {
  at::OptionalIntArrayRef bias_sizes;
  if (saved[2].defined()) bias_sizes = saved[2].sizes();
  return at::convolution_backward(up, saved[0], saved[1], bias_sizes, shape.stride, shape.padding,
                                  /*dilation=*/{1}, /*transposed=*/false, /*output_padding=*/{0},
                                  shape.groups, wanted);
}

void give(const GradientTarget& target, const at::Tensor& gradient) {
  if (target.overwrite)
    target.into.copy_(gradient);
  else
    target.into.add_(gradient);
}

struct Convolution : torch::autograd::Function<Convolution> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias,
                            const std::vector<std::int64_t>& stride,
                            const std::vector<std::int64_t>& padding, std::int64_t groups) {
    context->save_for_backward({x, weight, bias.value_or(at::Tensor())});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["groups"] = groups;
    return convolution_by_aten(x, weight, bias, {stride, padding, groups});
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const ConvolutionShape shape{.stride = context->saved_data["stride"].toIntVector(),
                                 .padding = context->saved_data["padding"].toIntVector(),
                                 .groups = context->saved_data["groups"].toInt()};
    const at::Tensor &up = gradients[0], &weight = saved[1], &bias = saved[2];
    if (is_differentiated()) {
      variable_list found = differentiable_gradients(
          [&](const std::vector<at::Tensor>& in) {
            return std::vector<at::Tensor>{
                convolution_by_aten(in[0], in[1], if_defined(in[2]), shape)};
          },
          saved, {up});
      found.resize(6);
      return found;
    }
    std::array<bool, 3> wanted{context->needs_input_grad(0), context->needs_input_grad(1),
                               bias.defined() && context->needs_input_grad(2)};
    const GradientAbility can{.overwrites = true, .rounds = true, .any_strides = true};
    GradientWriter writer({{.parameter = weight, .needed = wanted[1], .can = can},
                           {.parameter = bias, .needed = wanted[2], .can = can}},
                          bytes_of({up, saved[0]}));
    if (writer.on_side_stream()) {  // otherwise autograd gets all gradients
      const GradientTarget of_weight = writer.open(0), of_bias = writer.open(1);
      writer.run({up, saved[0]}, [=] {
        const auto [nothing, own, of_own_bias] =
            gradients_by_aten(up, saved, shape, {false, true, bias.defined()});
        give(of_weight, own);
        if (bias.defined()) give(of_bias, of_own_bias);
      });
      wanted[1] = wanted[2] = false;
    }
    const auto [of_x, of_weight, of_bias] = gradients_by_aten(up, saved, shape, wanted);
    return {of_x, of_weight, of_bias, {}, {}, {}};
  }
};

}  // namespace

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const ConvolutionShape& shape) {
  return Convolution::apply(x, weight, if_defined(bias), shape.stride, shape.padding, shape.groups);
}

}  // namespace lockstep
