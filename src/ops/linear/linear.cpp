// Matrix products whose gradients are accumulated in fp32 in the gradient buffer.
#include "ops/linear/linear.h"

#include "ops/column_sums/column_sums.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/matmul/matmul.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {
namespace {

at::Tensor rows_of(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

struct Linear : torch::autograd::Function<Linear> {
  // beside: whether x is returned as a second result.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& x, const at::Tensor& weight,
                                                const std::optional<at::Tensor>& bias,
                                                bool beside) {
    context->set_materialize_grads(false);
    context->save_for_backward({x, weight, bias.value_or(at::Tensor())});
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    const at::Tensor out = at::empty(sizes, x.options());
    matmul_into(out.view({-1, weight.size(0)}), rows_of(x), weight.t(),
                bias.value_or(at::Tensor()));
    if (!beside) return {out};
    return {out, x.detach()};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor other = gradients.size() > 1 ? gradients[1] : at::Tensor();
    if (!gradients[0].defined()) return {other, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    if (is_differentiated()) {
      auto found = differentiable_gradients(
          [](const std::vector<at::Tensor>& in) {
            return std::vector<at::Tensor>{at::linear(in[0], in[1], if_defined(in[2]))};
          },
          saved, {gradients[0]});
      if (other.defined() && found[0].defined()) found[0] = found[0].add(other);
      found.emplace_back();
      return found;
    }
    const at::Tensor gradient = rows_of(gradients[0]);
    at::Tensor of_x, of_weight, of_bias;
    const bool needs_weight = context->needs_input_grad(1);
    const bool needs_bias = bias.defined() && context->needs_input_grad(2);
    GradientWriter writer(
        {{.parameter = weight, .needed = needs_weight, .can = {.overwrites = true, .rounds = true}},
         {.parameter = bias, .needed = needs_bias}},
        bytes_of({gradient, x}));
    const auto of_parameters = [&] {
      const at::Tensor rows = rows_of(x);
      const GradientTarget of_w = writer.open(0), of_b = writer.open(1);
      writer.run({gradient, rows}, [of_w, of_b, gradient, rows] {
        if (of_w.into.defined())
          matmul_into(of_w.into, gradient.t(), rows, {}, /*accumulate=*/!of_w.overwrite);
        if (of_b.into.defined()) add_column_sums(of_b.into, gradient);
      });
      if (needs_weight && !of_w.into.defined()) of_weight = gradient.t().mm(rows);
      if (needs_bias && !of_b.into.defined()) of_bias = at::sum(gradient, {0});
    };
    if (writer.on_side_stream()) of_parameters();
    if (context->needs_input_grad(0)) {
      of_x = at::empty(x.sizes(), x.options());
      const at::Tensor rows = of_x.view({-1, x.size(-1)});
      if (other.defined())
        matmul_plus(rows, rows_of(other).contiguous(), gradient, weight);
      else
        matmul_into(rows, gradient, weight);
    }
    if (!writer.on_side_stream()) of_parameters();
    return {of_x, of_weight, of_bias, {}};
  }
};

}  // namespace

at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return Linear::apply(x, weight, if_defined(bias), /*beside=*/false)[0];
}

std::tuple<at::Tensor, at::Tensor> linear_layer_beside(const at::Tensor& x,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias) {
  const auto both = Linear::apply(x, weight, if_defined(bias), /*beside=*/true);
  return {both[0], both[1]};
}

}  // namespace lockstep
