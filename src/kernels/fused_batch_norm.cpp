// Batch norm with what follows it in two passes over x each way, by our kernels.
#include "kernels/batch_norm_paths.h"
#include "kernels/channel_norm_paths.h"
#include "kernels/gradient_sink.h"
#include "kernels/own_kernels.h"
#include "kernels/recompute.h"
#include "kernels/second_derivative.h"
#include "kernels/voxel_layout.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

KernelDtype affine_type(const at::Tensor& weight, const at::Tensor& bias) {
  if (!weight.defined() && !bias.defined()) return KernelDtype::f32;
  return *kernel_dtype((weight.defined() ? weight : bias).scalar_type());
}

struct FusedBatchNorm : torch::autograd::Function<FusedBatchNorm> {
  // weight, bias: of one type that the kernels read, or none. keep: whether a backward pass may
  // follow. moves: whether the running statistics do.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias,
                            const std::optional<at::Tensor>& skip_or_none,
                            const at::Tensor& running_mean, const at::Tensor& running_var,
                            double momentum, double eps, bool given, bool moves, bool relu,
                            bool keep) {
    const auto format = channels_last_format(x);
    const at::Tensor rows = lying_densely(x, format);
    const at::Tensor skip = skip_or_none ? lying_densely(*skip_or_none, format) : at::Tensor();
    const at::Tensor scale = weight.value_or(at::Tensor()), shift = bias.value_or(at::Tensor());
    const VoxelLayout layout = whole_batch_layout(rows);
    const auto f32 = x.options().dtype(at::kFloat);
    const at::Tensor y = at::empty_like(rows, format);
    const at::Tensor mean = at::empty({layout.channels}, f32), inverse = at::empty_like(mean);
    const at::Tensor partial =
        given ? at::Tensor() : at::empty({layout.chunks, 2, layout.channels}, f32);
    const bool by_bits = keep && relu && skip.defined();
    const at::Tensor positive = by_bits ? bits_for(rows, layout) : at::Tensor();
    const bool running = given || moves;
    channel_norm_kernels().forward(
        {.layout = layout,
         .x = rows.const_data_ptr(),
         .skip = data_of(skip),
         .channel_scale = data_of(scale),
         .bias = data_of(shift),
         .affine = affine_type(scale, shift),
         .y = y.mutable_data_ptr(),
         .positive = by_bits ? positive.mutable_data_ptr<std::uint8_t>() : nullptr,
         .mean = floats_to(mean),
         .inverse_deviation = floats_to(inverse),
         .partial = floats_to(partial),
         .running_mean = running ? floats_to(running_mean) : nullptr,
         .running_variance = running ? floats_to(running_var) : nullptr,
         .given = given,
         .epsilon = static_cast<float>(eps),
         .momentum = static_cast<float>(momentum),
         .relu = relu});
    context->save_for_backward({x, scale, shift, mean, inverse, positive});
    context->saved_data["skip"] = skip.defined();
    context->saved_data["given"] = given;
    context->saved_data["relu"] = relu;
    context->saved_data["eps"] = eps;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    variable_list result(12);
    const at::Tensor& of_y = gradients[0];
    if (!of_y.defined()) return result;
    const variable_list saved = context->get_saved_variables();
    if (is_differentiated()) return differentiable(*context, saved, of_y);
    const at::Tensor &scale = saved[1], &shift = saved[2], &positive = saved[5];
    const auto format = channels_last_format(saved[0]);
    const at::Tensor rows = lying_densely(saved[0], format);
    const at::Tensor up = lying_densely(of_y, format);
    const VoxelLayout layout = whole_batch_layout(rows);
    const bool by_bits = positive.defined();
    const at::Tensor of_x = at::empty_like(rows, format);
    at::Tensor of_skip = context->saved_data["skip"].toBool() ? up : at::Tensor();
    if (by_bits) of_skip = at::empty_like(rows, format);
    const auto f32 = rows.options().dtype(at::kFloat);
    const at::Tensor partial = at::empty({layout.chunks, 2, layout.channels}, f32);
    const at::Tensor sums = at::empty({layout.channels, 2}, f32);
    std::size_t place = 0;  // of x among the tensors that are there
    const auto sink = [&](const at::Tensor& parameter) {
      return parameter.defined() && context->needs_input_grad(++place)
                 ? sink_of(parameter, /*needed=*/true)
                 : Sink();
    };
    const Sink of_scale = sink(scale), of_shift = sink(shift);
    channel_norm_kernels().backward(
        {.layout = layout,
         .of_y = up.const_data_ptr(),
         .x = rows.const_data_ptr(),
         .positive = by_bits ? positive.const_data_ptr<std::uint8_t>() : nullptr,
         .channel_scale = data_of(scale),
         .bias = data_of(shift),
         .affine = affine_type(scale, shift),
         .mean = floats_of(saved[3]),
         .inverse_deviation = floats_of(saved[4]),
         .of_x = of_x.mutable_data_ptr(),
         .of_skip = by_bits ? of_skip.mutable_data_ptr() : nullptr,
         .partial = floats_to(partial),
         .sums = floats_to(sums),
         .of_scale = floats_to(of_scale.f32),
         .of_bias = floats_to(of_shift.f32),
         .given = context->saved_data["given"].toBool(),
         .relu = context->saved_data["relu"].toBool()});
    result[0] = of_x;
    result[1] = of_scale.returned(scale);
    result[2] = of_shift.returned(shift);
    result[3] = of_skip;
    return result;
  }

 private:
  // By ATen; what passed the ReLU is known, and does not move.
  static variable_list differentiable(AutogradContext& context, const variable_list& saved,
                                      const at::Tensor& of_y) {
    const at::Tensor &x = saved[0], &mean = saved[3], &inverse = saved[4], &positive = saved[5];
    const bool given = context.saved_data["given"].toBool();
    const bool relu = context.saved_data["relu"].toBool() && !positive.defined();
    const double eps = context.saved_data["eps"].toDouble();
    at::Tensor up = of_y;
    if (positive.defined()) {
      const at::Tensor rows = lying_densely(x.detach(), channels_last_format(x));
      up = of_y * factors_of(positive, x, whole_batch_layout(rows));
    }
    std::vector<at::Tensor> inputs{x};
    for (const std::size_t i : {1, 2})
      if (saved[i].defined()) inputs.push_back(saved[i]);
    const bool has_scale = saved[1].defined(), has_shift = saved[2].defined();
    const auto by_aten = [&](const std::vector<at::Tensor>& in) {
      const at::Tensor variance = inverse.pow(-2).sub(eps);
      const at::Tensor y = at::batch_norm(
          in[0], has_scale ? std::optional(in[1].to(at::kFloat)) : std::nullopt,
          has_shift ? std::optional(in.back().to(at::kFloat)) : std::nullopt,
          given ? std::optional(mean) : std::nullopt,
          given ? std::optional(variance) : std::nullopt, !given, 0, eps, /*cudnn_enabled=*/false);
      return std::vector<at::Tensor>{relu ? at::relu(y) : y};
    };
    const std::vector<at::Tensor> partials = differentiable_gradients(by_aten, inputs, {up});
    variable_list result(12);
    result[0] = partials[0];
    if (has_scale) result[1] = partials[1];
    if (has_shift) result[2] = partials.back();
    if (context.saved_data["skip"].toBool()) result[3] = up;
    return result;
  }
};

bool is_f32_vector(const at::Tensor& tensor) {
  return !tensor.defined() || (tensor.scalar_type() == at::kFloat && tensor.is_contiguous());
}

}  // namespace

bool batch_norm_kernels_serve(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after) {
  return x.is_cuda() && channel_norm_kernels().forward != nullptr &&
         kernel_dtype(x.scalar_type()) && x.numel() > 0 && (x.dim() == 4 || x.dim() == 5) &&
         x.is_contiguous(channels_last_format(x)) && state.running_mean.defined() &&
         is_f32_vector(state.running_mean) && is_f32_vector(state.running_var) &&
         (!after.skip.defined() ||
          (after.skip.sizes() == x.sizes() && after.skip.scalar_type() == x.scalar_type()));
}

at::Tensor batch_norm_by_kernels(const at::Tensor& x, const BatchNormState& state, bool training,
                                 const AfterNorm& after) {
  at::Tensor weight = state.weight, bias = state.bias;
  const auto readable = [](const at::Tensor& tensor) {
    return !tensor.defined() || (kernel_dtype(tensor.scalar_type()) && tensor.is_contiguous());
  };
  const bool alike =
      !weight.defined() || !bias.defined() || weight.scalar_type() == bias.scalar_type();
  if (!readable(weight) || !readable(bias) || !alike) {
    if (weight.defined()) weight = weight.to(at::kFloat).contiguous();
    if (bias.defined()) bias = bias.to(at::kFloat).contiguous();
  }
  const bool keep = at::GradMode::is_enabled() &&
                    (x.requires_grad() || (weight.defined() && weight.requires_grad()) ||
                     (bias.defined() && bias.requires_grad()) ||
                     (after.skip.defined() && after.skip.requires_grad()));
  // The running statistics must not move twice.
  return FusedBatchNorm::apply(x, if_defined(weight), if_defined(bias), if_defined(after.skip),
                               state.running_mean, state.running_var, state.momentum, state.eps,
                               !training, training && !is_computed_again(), after.relu, keep);
}

}  // namespace lockstep
