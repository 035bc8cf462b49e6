// Group norm of a channels-last tensor, without conversion to another layout. Statistics and sums
// are computed in f32, over [B, elements, C].
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {
namespace {

// Views a channels-last tensor as [B, elements, C]. Other tensors are copied to channels-last
// first.
at::Tensor by_channels(const at::Tensor& x) {
  const at::Tensor lying = x.contiguous(x.dim() == 4 ? at::MemoryFormat::ChannelsLast
                                                     : at::MemoryFormat::ChannelsLast3d);
  return lying.movedim(1, -1).flatten(1, -2);
}

// Expands [B, groups] to [B, 1, C].
at::Tensor to_channels(const at::Tensor& of_groups, std::int64_t channels) {
  const std::int64_t rows = of_groups.size(0), groups = of_groups.size(1);
  return of_groups.unsqueeze(2)
      .expand({rows, groups, channels / groups})
      .reshape({rows, 1, channels});
}

// Sums [B, C] to [B, groups].
at::Tensor to_groups(const at::Tensor& of_channels, std::int64_t groups) {
  return of_channels.view({of_channels.size(0), groups, -1}).sum(2);
}

struct GroupNorm : torch::autograd::Function<GroupNorm> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            std::int64_t groups, const std::optional<at::Tensor>& weight_or_none,
                            const std::optional<at::Tensor>& bias_or_none, double epsilon) {
    const at::Tensor weight = weight_or_none.value_or(at::Tensor());
    const at::Tensor bias = bias_or_none.value_or(at::Tensor());
    const at::Tensor rows = by_channels(x);
    const auto work = float_or_double(x);
    const std::int64_t channels = rows.size(2);
    const auto [variance, mean] =
        at::var_mean(rows.to(work).view({rows.size(0), rows.size(1), groups, -1}), {1, 3},
                     /*correction=*/std::optional<at::Scalar>(0), /*keepdim=*/false);
    const at::Tensor inverse = variance.add(epsilon).rsqrt();
    at::Tensor scale = to_channels(inverse, channels);
    if (weight.defined()) scale = scale * weight.to(work);
    at::Tensor shift = to_channels(mean, channels).mul(scale).neg();
    if (bias.defined()) shift = shift + bias.to(work);
    at::Tensor out = at::empty_like(
        x, x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d);
    at::Tensor out_rows = by_channels(out);
    at::addcmul_out(out_rows, shift, rows, scale);
    context->save_for_backward({x, weight, bias, mean, inverse});
    context->saved_data["groups"] = groups;
    context->saved_data["epsilon"] = epsilon;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    const std::int64_t groups = context->saved_data["groups"].toInt();
    if (is_differentiated()) {
      const double epsilon = context->saved_data["epsilon"].toDouble();
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{group_norm_of_aten(in[0], groups, in[1], in[2], epsilon)};
      };
      const auto found =
          differentiable_gradients(by_aten, {saved[0], saved[1], saved[2]}, gradients);
      return {found[0], {}, found[1], found[2], {}};
    }
    return first_derivatives(saved, groups, gradients[0]);
  }

 private:
  static torch::autograd::variable_list first_derivatives(
      const torch::autograd::variable_list& saved, std::int64_t groups,
      const at::Tensor& gradient) {
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[3], &inverse = saved[4];
    const auto work = float_or_double(x);
    const at::Tensor rows = by_channels(x), of_out = by_channels(gradient);
    const std::int64_t channels = rows.size(2);
    const at::Tensor sum = of_out.sum({1}, /*keepdim=*/false, work);  // [B, C]
    const at::Tensor product = of_out.to(work).mul(rows).sum(1);
    const at::Tensor weights =
        weight.defined() ? weight.to(work) : at::ones({channels}, sum.options());
    const at::Tensor group_sum = to_groups(sum * weights, groups);
    const at::Tensor group_product = to_groups(product * weights, groups);
    const auto count = static_cast<double>(rows.size(1) * (channels / groups));
    // of_rows: the factor of x in its gradient
    const at::Tensor of_rows = (group_sum * mean - group_product).mul(inverse.pow(3)).div(count);
    const at::Tensor rest = (of_rows * mean + group_sum * inverse / count).neg();
    const at::Tensor scale = to_channels(inverse, channels) * weights;
    at::Tensor of_x = at::empty_like(
        x, x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d);
    at::Tensor of_x_rows = by_channels(of_x);
    const at::Tensor linear =
        at::addcmul(to_channels(rest, channels), rows, to_channels(of_rows, channels));
    at::addcmul_out(of_x_rows, linear, of_out, scale);
    at::Tensor of_weight, of_bias;
    if (weight.defined())
      of_weight = (product - sum * to_channels(mean, channels).squeeze(1))
                      .mul(to_channels(inverse, channels).squeeze(1))
                      .sum(0)
                      .to(weight.scalar_type());
    if (saved[2].defined()) of_bias = sum.sum(0).to(saved[2].scalar_type());
    return {of_x, {}, of_weight, of_bias, {}};
  }
};

}  // namespace

at::Tensor group_norm_of_aten(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                              const at::Tensor& bias, double epsilon) {
  const auto work = float_or_double(x);
  // ATen's CPU operator keeps its statistics in the type of the parameters, so it gets f32.
  if (x.is_cpu() && x.scalar_type() != work) {
    const auto options = x.options().dtype(work);
    return at::group_norm(
        x, groups, weight.defined() ? weight.to(work) : at::ones({x.size(1)}, options),
        bias.defined() ? bias.to(work) : at::zeros({x.size(1)}, options), epsilon);
  }
  const auto in_work = [&](const at::Tensor& parameter) {
    return parameter.defined() ? std::optional(parameter.to(work)) : std::nullopt;
  };
  return at::group_norm(x.to(work), groups, in_work(weight), in_work(bias), epsilon)
      .to(x.scalar_type());
}

at::Tensor group_norm_channels_last(const at::Tensor& x, std::int64_t groups,
                                    const at::Tensor& weight, const at::Tensor& bias,
                                    double epsilon) {
  return GroupNorm::apply(x, groups, if_defined(weight), if_defined(bias), epsilon);
}

}  // namespace lockstep
