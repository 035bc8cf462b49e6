#include "ops/batch_norm/batch_norm_parts.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/recompute.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>

#include <algorithm>

namespace lockstep {
namespace {

using torch::autograd::variable_list;

KernelDtype affine_type(const Norm& norm) {
  const at::Tensor& any = norm.scale.defined() ? norm.scale : norm.shift;
  return any.defined() ? *kernel_dtype(any.scalar_type()) : KernelDtype::f32;
}

void check_moments(const ChannelMoments& known, const at::Tensor& x) {
  const at::Tensor &partial = known.partial, &elements = known.elements;
  if (!partial.defined()) return;
  const auto fits = [&](const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous() &&
           tensor.device() == x.device() && tensor.size(0) == partial.size(0);
  };
  if (partial.dim() != 3 || partial.size(0) < 1 || partial.size(1) != 2 ||
      partial.size(2) != x.size(1) || !fits(partial) || !fits(elements) || elements.dim() != 1)
    throw Error(cat("moments of a tensor of ", x.size(1), " channels are f32 [chunks, 2, ",
                    x.size(1), "] and [chunks] on its device, not ", partial.sizes(), " and ",
                    elements.defined() ? c10::str(elements.sizes()) : "nothing"),
                "give batch_norm what the convolution told of this very tensor");
}

bool is_f32_vector(const at::Tensor& tensor) {
  return !tensor.defined() || (tensor.scalar_type() == at::kFloat && tensor.is_contiguous());
}

}  // namespace

bool norm_kernels_take(const at::Tensor& x, const BatchNormState& state) {
  return channel_norm_kernels().forward != nullptr && x.is_cuda() &&
         kernel_dtype(x.scalar_type()) && x.numel() > 0 && (x.dim() == 4 || x.dim() == 5) &&
         x.is_contiguous(channels_last_format(x)) && state.running_mean.defined() &&
         is_f32_vector(state.running_mean) && is_f32_vector(state.running_var);
}

NormAffine::NormAffine(const BatchNormState& state) : weight(state.weight), bias(state.bias) {
  const auto readable = [](const at::Tensor& tensor) {
    return !tensor.defined() || (kernel_dtype(tensor.scalar_type()) && tensor.is_contiguous());
  };
  const bool alike =
      !weight.defined() || !bias.defined() || weight.scalar_type() == bias.scalar_type();
  if (readable(weight) && readable(bias) && alike) return;
  if (weight.defined()) weight = weight.to(at::kFloat).contiguous();
  if (bias.defined()) bias = bias.to(at::kFloat).contiguous();
}

NormRule::NormRule(bool training, bool relu, const std::vector<at::Tensor>& inputs)
    : given(!training),
      moves(training && !is_computed_again()),  // a recomputation must not update them again
      relu(relu),
      keep(at::GradMode::is_enabled() &&
           std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) {
             return input.defined() && input.requires_grad();
           })) {}

Norm::Norm(const at::Tensor& dense, const std::optional<at::Tensor>& weight,
           const std::optional<at::Tensor>& bias)
    : rows(dense),
      scale(weight.value_or(at::Tensor())),
      shift(bias.value_or(at::Tensor())),
      mean(at::empty({dense.size(1)}, dense.options().dtype(at::kFloat))),
      inverse(at::empty_like(mean)) {}

Norm::Norm(const variable_list& saved, std::size_t at)
    : rows(lying_densely(saved[at], channels_last_format(saved[at]))),
      scale(saved[at + 1]),
      shift(saved[at + 2]),
      mean(saved[at + 3]),
      inverse(saved[at + 4]) {}

at::Tensor norm_partial(const Norm& norm, const VoxelLayout& layout) {
  return at::empty({layout.chunks, 2, layout.channels}, norm.mean.options());
}

at::Tensor forward_partial(const Norm& norm, const VoxelLayout& layout, const NormRule& rule,
                           const ChannelMoments& known) {
  return rule.given || known.partial.defined() ? at::Tensor() : norm_partial(norm, layout);
}

ChannelNormForward norm_forward(const Norm& norm, const VoxelLayout& layout,
                                const BatchNormState& state, const NormRule& rule,
                                const at::Tensor& partial, const ChannelMoments& known) {
  check_moments(known, norm.rows);
  const bool running = rule.given || rule.moves;
  return {.layout = layout,
          .x = norm.rows.const_data_ptr(),
          .channel_scale = data_of(norm.scale),
          .bias = data_of(norm.shift),
          .affine = affine_type(norm),
          .mean = floats_to(norm.mean),
          .inverse_deviation = floats_to(norm.inverse),
          .partial = floats_to(partial),
          .known = floats_of(known.partial),
          .known_elements = floats_of(known.elements),
          .known_chunks = known.partial.defined() ? known.partial.size(0) : 0,
          .running_mean = running ? floats_to(state.running_mean) : nullptr,
          .running_variance = running ? floats_to(state.running_var) : nullptr,
          .given = rule.given,
          .epsilon = static_cast<float>(state.eps),
          .momentum = static_cast<float>(state.momentum),
          .relu = rule.relu};
}

NormGradients::NormGradients(torch::autograd::AutogradContext& context, const Norm& norm,
                             const VoxelLayout& layout, bool given, std::size_t place)
    : of_x(at::empty_like(norm.rows, channels_last_format(norm.rows))),
      partial(norm_partial(norm, layout)),
      sums(at::empty({layout.channels, 2}, norm.mean.options())),
      places(place + 1) {
  const bool needs_scale = norm.scale.defined() && context.needs_input_grad(places++);
  const bool needs_shift = norm.shift.defined() && context.needs_input_grad(places++);
  writer = GradientWriter({{.parameter = norm.scale, .needed = needs_scale},
                           {.parameter = norm.shift, .needed = needs_shift}});
  const at::Tensor of_scale = needs_scale ? writer->open_or_zeros(0).into : at::Tensor();
  const at::Tensor of_shift = needs_shift ? writer->open_or_zeros(1).into : at::Tensor();
  launch = {.layout = layout,
            .x = norm.rows.const_data_ptr(),
            .channel_scale = data_of(norm.scale),
            .bias = data_of(norm.shift),
            .affine = affine_type(norm),
            .mean = floats_of(norm.mean),
            .inverse_deviation = floats_of(norm.inverse),
            .of_x = of_x.mutable_data_ptr(),
            .partial = floats_to(partial),
            .sums = floats_to(sums),
            .of_scale = floats_to(of_scale),
            .of_bias = floats_to(of_shift),
            .given = given};
}

void NormGradients::give(variable_list& to, std::size_t at) const {
  to[at] = of_x;
  to[at + 1] = writer->returned(0);
  to[at + 2] = writer->returned(1);
}

void differentiate_norm(const variable_list& saved, std::size_t saved_at, const at::Tensor& up,
                        bool given, bool relu, double eps, variable_list& to, std::size_t at) {
  const at::Tensor &scale = saved[saved_at + 1], &shift = saved[saved_at + 2];
  const at::Tensor &mean = saved[saved_at + 3], &inverse = saved[saved_at + 4];
  std::vector<at::Tensor> inputs{saved[saved_at]};
  for (const at::Tensor& parameter : {scale, shift})
    if (parameter.defined()) inputs.push_back(parameter);
  const auto by_aten = [&](const std::vector<at::Tensor>& in) {
    const at::Tensor variance = inverse.pow(-2).sub(eps);
    const at::Tensor y = at::batch_norm(
        in[0], scale.defined() ? std::optional(in[1].to(at::kFloat)) : std::nullopt,
        shift.defined() ? std::optional(in.back().to(at::kFloat)) : std::nullopt,
        given ? std::optional(mean) : std::nullopt, given ? std::optional(variance) : std::nullopt,
        !given, 0, eps, /*cudnn_enabled=*/false);
    return std::vector<at::Tensor>{relu ? at::relu(y) : y};
  };
  const std::vector<at::Tensor> partials = differentiable_gradients(by_aten, inputs, {up});
  to[at] = partials[0];
  if (scale.defined()) to[at + 1] = partials[1];
  if (shift.defined()) to[at + 2] = partials.back();
}

}  // namespace lockstep
