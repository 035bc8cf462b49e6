// Batch norm with a residual sum and ReLU by our kernels, in two passes over x in each direction.
// If the skip has its own norm, the same passes compute that too.
#include "ops/batch_norm/batch_norm_parts.h"
#include "ops/batch_norm/batch_norm_paths.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Saved tensors: those of the norm, the bits of elements that passed the ReLU, then those of the
// skip's norm if it has one.
constexpr std::size_t saved_positive = Norm::saved_tensors, saved_skip = saved_positive + 1;

struct FusedBatchNorm : torch::autograd::Function<FusedBatchNorm> {
  // weight, bias: as in NormAffine. of_skip: the state of the skip's norm, with skip_weight and
  // skip_bias; null if the skip has no norm.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias,
                            const std::optional<at::Tensor>& skip_or_none,
                            const std::optional<at::Tensor>& skip_weight,
                            const std::optional<at::Tensor>& skip_bias, const BatchNormState& state,
                            const BatchNormState* of_skip, const NormRule& rule,
                            const KnownMoments& known) {
    const auto format = channels_last_format(x);
    const Norm norm(lying_densely(x, format), weight, bias);
    const at::Tensor skip = skip_or_none ? lying_densely(*skip_or_none, format) : at::Tensor();
    const VoxelLayout layout = whole_batch_layout(norm.rows);
    const at::Tensor y = at::empty_like(norm.rows, format);
    const at::Tensor partial = forward_partial(norm, layout, rule, known.x);
    const bool by_bits = rule.keep && rule.relu && skip.defined();
    const at::Tensor positive = by_bits ? bits_for(norm.rows, layout) : at::Tensor();
    ChannelNormForward launch = norm_forward(norm, layout, state, rule, partial, known.x);
    launch.y = y.mutable_data_ptr();
    launch.positive = by_bits ? positive.mutable_data_ptr<std::uint8_t>() : nullptr;
    variable_list saved = norm.saved_of(x);
    saved.push_back(positive);
    if (of_skip != nullptr) {
      const Norm other(skip, skip_weight, skip_bias);
      const at::Tensor partial_of_other = forward_partial(other, layout, rule, known.skip);
      channel_norm_kernels().forward_pair(
          {.first = launch,
           .second = norm_forward(other, layout, *of_skip, rule, partial_of_other, known.skip)});
      for (const at::Tensor& tensor : other.saved_of(*skip_or_none)) saved.push_back(tensor);
      context->saved_data["eps of skip"] = of_skip->eps;
    } else {
      launch.skip = data_of(skip);
      channel_norm_kernels().forward(launch);
    }
    context->save_for_backward(saved);
    context->saved_data["skip"] = skip.defined();
    context->saved_data["given"] = rule.given;
    context->saved_data["relu"] = rule.relu;
    context->saved_data["eps"] = state.eps;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor& of_y = gradients[0];
    variable_list result(10);
    if (!of_y.defined()) return result;
    const variable_list saved = context->get_saved_variables();
    if (is_differentiated()) return differentiable(*context, saved, of_y);
    const bool given = context->saved_data["given"].toBool();
    const at::Tensor& positive = saved[saved_positive];
    const Norm norm(saved, 0);
    const auto format = channels_last_format(norm.rows);
    const VoxelLayout layout = whole_batch_layout(norm.rows);
    const at::Tensor up = lying_densely(of_y, format);
    NormGradients own(*context, norm, layout, given, 0);
    own.launch.of_y = up.const_data_ptr();
    own.launch.positive = positive.defined() ? positive.const_data_ptr<std::uint8_t>() : nullptr;
    own.launch.relu = context->saved_data["relu"].toBool();
    if (saved.size() > saved_skip) {
      const Norm other(saved, saved_skip);
      const NormGradients of_skip(*context, other, layout, given, own.places);
      channel_norm_kernels().backward_pair({.first = own.launch, .second = of_skip.launch});
      of_skip.give(result, 3);
      own.give(result, 0);
      return result;
    }
    if (context->saved_data["skip"].toBool()) result[3] = up;
    if (positive.defined()) {
      result[3] = at::empty_like(norm.rows, format);
      own.launch.of_skip = result[3].mutable_data_ptr();
    }
    channel_norm_kernels().backward(own.launch);
    own.give(result, 0);
    return result;
  }

 private:
  // Computes the gradients with ATen's operators. The elements that passed the ReLU are known and
  // do not change.
  static variable_list differentiable(AutogradContext& context, const variable_list& saved,
                                      const at::Tensor& of_y) {
    const at::Tensor &x = saved[0], &positive = saved[saved_positive];
    const bool given = context.saved_data["given"].toBool();
    at::Tensor up = of_y;
    if (positive.defined()) {
      const at::Tensor rows = lying_densely(x.detach(), channels_last_format(x));
      up = of_y * factors_of(positive, x, whole_batch_layout(rows));
    }
    variable_list result(10);
    const bool relu = context.saved_data["relu"].toBool() && !positive.defined();
    differentiate_norm(saved, 0, up, given, relu, context.saved_data["eps"].toDouble(), result, 0);
    if (saved.size() > saved_skip)
      differentiate_norm(saved, saved_skip, up, given, /*relu=*/false,
                         context.saved_data["eps of skip"].toDouble(), result, 3);
    else if (context.saved_data["skip"].toBool())
      result[3] = up;
    return result;
  }
};

}  // namespace

bool batch_norm_kernels_serve(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after) {
  if (!norm_kernels_take(x, state)) return false;
  const at::Tensor& skip = after.skip;
  if (!skip.defined()) return true;
  return skip.sizes() == x.sizes() && skip.scalar_type() == x.scalar_type() &&
         (!after.skip_norm || norm_kernels_take(skip, *after.skip_norm));
}

at::Tensor batch_norm_by_kernels(const at::Tensor& x, const BatchNormState& state, bool training,
                                 const AfterNorm& after, const KnownMoments& known) {
  const NormAffine own(state), other(after.skip_norm.value_or(BatchNormState()));
  const NormRule rule(training, after.relu,
                      {x, own.weight, own.bias, after.skip, other.weight, other.bias});
  return FusedBatchNorm::apply(x, if_defined(own.weight), if_defined(own.bias),
                               if_defined(after.skip), if_defined(other.weight),
                               if_defined(other.bias), state,
                               after.skip_norm ? &*after.skip_norm : nullptr, rule, known);
}

}  // namespace lockstep
