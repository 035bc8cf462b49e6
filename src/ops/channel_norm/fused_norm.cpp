// Instance norm with a residual sum, scale and ReLU, by our kernels or with ATen's operators.
#include "ops/channel_norm/fused_norm.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/channel_norm/channel_norm_paths.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"
#include "ops/spatial/spatial.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {
namespace {

ChannelNormKernels norm_kernels;  // set once, before the first step

void check_instance_norm_act(const at::Tensor& x, const at::Tensor& channel_scale,
                             const at::Tensor& skip) {
  if ((x.dim() != 4 && x.dim() != 5) || !x.is_floating_point())
    throw Error(cat("instance_norm_act wants floating [B, C, H, W] or [B, C, D, H, W], but got ",
                    x.sizes(), " of ", x.scalar_type()));
  if (x.numel() > 0 && x.numel() == x.size(0) * x.size(1))
    throw Error(cat("instance_norm_act got one element per row and channel, of shape ", x.sizes(),
                    ", which leaves nothing once its mean is taken off"),
                "take a larger input, or a smaller depth");
  if (channel_scale.defined() &&
      (channel_scale.sizes() != x.sizes().slice(0, 2) || channel_scale.device() != x.device() ||
       channel_scale.scalar_type() != at::kFloat))
    throw Error(cat("instance_norm_act wants channel_scale of f32 ", x.sizes().slice(0, 2),
                    ", but got ", channel_scale.sizes(), " of ", channel_scale.scalar_type()));
  if (skip.defined() && (skip.sizes() != x.sizes() || skip.scalar_type() != x.scalar_type()))
    throw Error(cat("instance_norm_act wants skip as x, ", x.sizes(), " of ", x.scalar_type(),
                    ", but got ", skip.sizes(), " of ", skip.scalar_type()));
}

struct InstanceNormAct : torch::autograd::Function<InstanceNormAct> {
  // keep: whether a backward pass may follow.
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& skip_or_none,
                            const std::optional<at::Tensor>& scale_or_none, bool relu, bool keep,
                            double epsilon) {
    const auto format = x.suggest_memory_format();
    const at::Tensor rows = lying_densely(x, format);
    const at::Tensor skip = skip_or_none ? lying_densely(*skip_or_none, format) : at::Tensor();
    const at::Tensor scale = scale_or_none ? scale_or_none->contiguous() : at::Tensor();
    const VoxelLayout layout = voxel_layout(rows);
    const auto f32 = x.options().dtype(at::kFloat);
    const at::Tensor y = at::empty_like(rows, format);
    const at::Tensor mean = at::empty({layout.statistics}, f32), inverse = at::empty_like(mean);
    const at::Tensor partial = at::empty({layout.rows, layout.chunks, 2, layout.channels}, f32);
    const bool by_bits = keep && relu && skip.defined();
    const at::Tensor positive = by_bits ? bits_for(rows, layout) : at::Tensor();
    norm_kernels.forward({.layout = layout,
                          .x = rows.const_data_ptr(),
                          .skip = data_of(skip),
                          .channel_scale = floats_of(scale),
                          .y = y.mutable_data_ptr(),
                          .positive = by_bits ? positive.mutable_data_ptr<std::uint8_t>() : nullptr,
                          .mean = mean.mutable_data_ptr<float>(),
                          .inverse_deviation = inverse.mutable_data_ptr<float>(),
                          .partial = partial.mutable_data_ptr<float>(),
                          .epsilon = static_cast<float>(epsilon),
                          .relu = relu});
    context->save_for_backward({x, scale, mean, inverse, positive});
    context->saved_data["skip"] = skip.defined();
    context->saved_data["relu"] = relu;
    context->saved_data["epsilon"] = epsilon;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor& of_y = gradients[0];
    if (!of_y.defined()) return {{}, {}, {}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    if (is_differentiated()) return differentiable(*context, saved, of_y);
    const auto format = saved[0].suggest_memory_format();
    const at::Tensor rows = lying_densely(saved[0], format), up = lying_densely(of_y, format);
    const at::Tensor &scale = saved[1], &positive = saved[4];
    const VoxelLayout layout = voxel_layout(rows);
    const bool by_bits = positive.defined();
    const at::Tensor of_x = at::empty_like(rows, format);
    at::Tensor of_skip = context->saved_data["skip"].toBool() ? up : at::Tensor();
    if (by_bits) of_skip = at::empty_like(rows, format);
    const auto f32 = rows.options().dtype(at::kFloat);
    const at::Tensor partial = at::empty({layout.rows, layout.chunks, 2, layout.channels}, f32);
    const at::Tensor sums = at::empty({layout.statistics, 2}, f32);
    norm_kernels.backward({.layout = layout,
                           .of_y = up.const_data_ptr(),
                           .x = rows.const_data_ptr(),
                           .positive = by_bits ? positive.const_data_ptr<std::uint8_t>() : nullptr,
                           .channel_scale = floats_of(scale),
                           .mean = saved[2].const_data_ptr<float>(),
                           .inverse_deviation = saved[3].const_data_ptr<float>(),
                           .of_x = of_x.mutable_data_ptr(),
                           .of_skip = by_bits ? of_skip.mutable_data_ptr() : nullptr,
                           .partial = partial.mutable_data_ptr<float>(),
                           .sums = sums.mutable_data_ptr<float>(),
                           .relu = context->saved_data["relu"].toBool()});
    return {of_x, of_skip, {}, {}, {}, {}};
  }

 private:
  // The elements that passed the ReLU are known, and do not change.
  static torch::autograd::variable_list differentiable(torch::autograd::AutogradContext& context,
                                                       const torch::autograd::variable_list& saved,
                                                       const at::Tensor& of_y) {
    const at::Tensor &x = saved[0], &scale = saved[1], &positive = saved[4];
    const double epsilon = context.saved_data["epsilon"].toDouble();
    const bool relu = context.saved_data["relu"].toBool() && !positive.defined();
    at::Tensor up = of_y;
    if (positive.defined()) {
      const auto format = x.suggest_memory_format();
      up = of_y * factors_of(positive, x, voxel_layout(lying_densely(x.detach(), format)));
    }
    const auto by_aten = [&](const std::vector<at::Tensor>& in) {
      return std::vector<at::Tensor>{instance_norm_act_reference(in[0], scale, {}, relu, epsilon)};
    };
    const bool has_skip = context.saved_data["skip"].toBool();
    return {differentiable_gradients(by_aten, {x}, {up})[0],
            has_skip ? up : at::Tensor(),
            {},
            {},
            {},
            {}};
  }
};

bool instance_norm_kernels_serve(const at::Tensor& x) {
  return x.is_cuda() && norm_kernels.forward != nullptr && kernel_dtype(x.scalar_type()) &&
         x.numel() > 0;
}

}  // namespace

at::Tensor instance_norm_act_reference(const at::Tensor& x, const at::Tensor& channel_scale,
                                       const at::Tensor& skip, bool relu, double epsilon) {
  at::Tensor y = instance_norm_layer(x, {}, {}, epsilon);
  if (channel_scale.defined()) {
    std::vector<std::int64_t> beside(static_cast<std::size_t>(x.dim()), 1);
    beside[0] = x.size(0);
    beside[1] = x.size(1);
    y = y * channel_scale.to(x.scalar_type()).view(beside);
  }
  if (skip.defined()) y = y + skip;
  return relu ? at::relu(y) : y;
}

at::Tensor instance_norm_act(const at::Tensor& x, const at::Tensor& channel_scale,
                             const at::Tensor& skip, bool relu, double epsilon) {
  check_instance_norm_act(x, channel_scale, skip);
  if (!instance_norm_kernels_serve(x))
    return instance_norm_act_reference(x, channel_scale, skip, relu, epsilon);
  const bool keep =
      at::GradMode::is_enabled() && (x.requires_grad() || (skip.defined() && skip.requires_grad()));
  return InstanceNormAct::apply(x, if_defined(skip), if_defined(channel_scale), relu, keep,
                                epsilon);
}

at::Tensor bits_for(const at::Tensor& x, const VoxelLayout& layout) {
  return at::empty({x.numel() / (layout.vectors ? 8 : 1)}, x.options().dtype(at::kByte));
}

at::Tensor factors_of(const at::Tensor& bytes, const at::Tensor& x, const VoxelLayout& layout) {
  at::Tensor bits = bytes;
  if (layout.vectors) {
    const at::Tensor places = at::arange(8, bytes.options());
    bits = at::bitwise_and(at::bitwise_right_shift(bytes.unsqueeze(1), places), 1);
  }
  if (layout.together) return bits.view(x.sizes()).to(x.scalar_type());
  std::vector<std::int64_t> lying = x.sizes().vec();
  lying.erase(lying.begin() + 1);
  lying.push_back(x.size(1));
  return bits.view(lying).movedim(-1, 1).to(x.scalar_type());
}

const ChannelNormKernels& channel_norm_kernels() { return norm_kernels; }

void register_cuda_channel_norm(ChannelNormKernels own) { norm_kernels = own; }

}  // namespace lockstep
