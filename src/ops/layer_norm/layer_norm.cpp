// Residual sum and layer norm as one operation with gradients.
#include "ops/layer_norm/layer_norm.h"

#include "core/base/check.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/philox/philox_inline.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

namespace lockstep {
namespace {

LayerNormKernels layer_norm_kernels;  // set once, before the first step

bool layer_norm_kernels_serve(const at::Tensor& x, const at::Tensor& weight) {
  const std::int64_t width = x.size(-1);
  return x.is_cuda() && layer_norm_kernels.forward != nullptr && kernel_dtype(x.scalar_type()) &&
         weight.scalar_type() == x.scalar_type() && width % 8 == 0 && width > 0 &&
         width <= layer_norm_widest && x.numel() > 0;
}

// Returns the fewest blocks that still give no block more rows than the most blocks would.
std::int64_t blocks_for(std::int64_t rows) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t rounds = up(rows, layer_norm_block_rows * layer_norm_most_blocks);
  return up(rows, layer_norm_block_rows * rounds);
}

BranchDropout kernel_dropout(const DropoutDraw& draw, const at::Tensor& x) {
  if (draw.p == 0) return {};
  const DropoutRule rule = dropout_rule(draw.p);
  BranchDropout dropout{.counters = draw.counters.const_data_ptr<std::int64_t>(),
                        .layer = draw.layer,
                        .threshold = rule.threshold,
                        .scale = static_cast<float>(rule.scale)};
  if (draw.offsets.defined()) {
    dropout.offsets = draw.offsets.const_data_ptr<std::int64_t>();
    dropout.rows = draw.offsets.size(0) - 1;
  } else {
    dropout.items_per_row = x.numel() / x.size(-1) / x.size(0);
  }
  return dropout;
}

struct Normed {
  at::Tensor sum, normed, mean, inverse_deviation;
};

Normed forward_with_kernel(const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight,
                           const at::Tensor& bias, double epsilon, const DropoutDraw& draw) {
  const std::int64_t width = x.size(-1), rows = x.numel() / width;
  const auto f32 = x.options().dtype(at::kFloat);
  Normed result{.sum = branch.defined() ? at::empty_like(x) : x,
                .normed = at::empty_like(x),
                .mean = at::empty({rows}, f32),
                .inverse_deviation = at::empty({rows}, f32)};
  layer_norm_kernels.forward(
      {.x = x.const_data_ptr(),
       .branch = data_of(branch),
       .weight = weight.const_data_ptr(),
       .bias = data_of(bias),
       .sum = branch.defined() ? result.sum.mutable_data_ptr() : nullptr,
       .normed = result.normed.mutable_data_ptr(),
       .mean = result.mean.mutable_data_ptr<float>(),
       .inverse_deviation = result.inverse_deviation.mutable_data_ptr<float>(),
       .dropout = kernel_dropout(draw, x),
       .dtype = *kernel_dtype(x.scalar_type()),
       .rows = rows,
       .width = width,
       .epsilon = static_cast<float>(epsilon)});
  return result;
}

// ATen's CPU operators keep mean and 1 / deviation in the type of the parameters. In fp16, 1 /
// deviation overflows at a constant row. Its gradient is then 0 * infinity. So these operators get
// parameters in f32.
std::optional<at::Tensor> parameter_for_aten(const at::Tensor& parameter) {
  if (!parameter.defined()) return std::nullopt;
  return parameter.is_cpu() ? parameter.to(float_or_double(parameter)) : parameter;
}

Normed forward_with_aten(const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight,
                         const at::Tensor& bias, double epsilon) {
  Normed result{.sum = branch.defined() ? x.add(branch) : x,
                .normed = {},
                .mean = {},
                .inverse_deviation = {}};
  const std::int64_t width = x.size(-1);
  std::tie(result.normed, result.mean, result.inverse_deviation) = at::native_layer_norm(
      result.sum, {width}, parameter_for_aten(weight), parameter_for_aten(bias), epsilon);
  return result;
}

bool own_path(const at::Tensor& rows, const at::Tensor& branch, const at::Tensor& weight,
              const at::Tensor& bias) {
  return layer_norm_kernels_serve(rows, weight) && aligned(rows) && aligned(branch) &&
         aligned(weight) && aligned(bias);
}

struct ResidualLayerNorm : torch::autograd::Function<ResidualLayerNorm> {
  // counters, offsets: i64, contiguous. They belong to a dropout with p in (0, 1) that the kernels
  // apply.
  static torch::autograd::variable_list forward(
      torch::autograd::AutogradContext* context, const at::Tensor& x,
      const std::optional<at::Tensor>& branch_or_none, const at::Tensor& weight,
      const std::optional<at::Tensor>& bias_or_none, const std::optional<at::Tensor>& counters,
      const std::optional<at::Tensor>& offsets, double epsilon, double p, std::int64_t layer) {
    const at::Tensor branch = branch_or_none.value_or(at::Tensor());
    const at::Tensor bias = bias_or_none.value_or(at::Tensor());
    const at::Tensor rows = x.contiguous();
    const at::Tensor other = branch.defined() ? branch.contiguous() : branch;
    const bool own = own_path(rows, other, weight, bias);
    const DropoutDraw draw{.p = p,
                           .counters = counters.value_or(at::Tensor()),
                           .offsets = offsets.value_or(at::Tensor()),
                           .layer = layer};
    Normed result = own ? forward_with_kernel(rows, other, weight, bias, epsilon, draw)
                        : forward_with_aten(rows, other, weight, bias, epsilon);
    context->save_for_backward({branch.defined() ? result.sum : x, weight, bias, result.mean,
                                result.inverse_deviation, draw.counters, draw.offsets});
    context->saved_data["p"] = p;
    context->saved_data["layer"] = layer;
    context->saved_data["own"] = own;
    context->saved_data["branch"] = branch.defined();
    context->saved_data["epsilon"] = epsilon;
    context->set_materialize_grads(false);
    // Without a branch the sum is the input x, which the caller has already.
    if (!branch.defined()) return {result.normed};
    return {result.normed, result.sum};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    if (is_differentiated()) return differentiable(*context, saved, gradients);
    const at::Tensor sum = saved[0].contiguous();
    const at::Tensor &weight = saved[1], &bias = saved[2];
    const bool branch = context->saved_data["branch"].toBool();
    const DropoutDraw draw = draw_of(*context, saved);
    const auto both = [&](const at::Tensor& of_x) {
      return branch ? dropout(of_x, draw) : at::Tensor();
    };
    at::Tensor of_sum = branch ? gradients[1] : at::Tensor();
    if (of_sum.defined()) of_sum = of_sum.contiguous();
    if (!gradients[0].defined()) return {of_sum, both(of_sum), {}, {}, {}, {}, {}, {}, {}};
    const at::Tensor of_normed = gradients[0].contiguous();
    // index of the weight among the tensor arguments that are given
    const std::size_t place = branch ? 2 : 1;
    const bool own = context->saved_data["own"].toBool() && aligned(of_normed) && aligned(of_sum);
    const bool needs_weight = context->needs_input_grad(place);
    const bool needs_bias = bias.defined() && context->needs_input_grad(place + 1);
    GradientWriter writer(
        {{.parameter = weight, .needed = needs_weight}, {.parameter = bias, .needed = needs_bias}},
        own ? 0 : GradientWriter::not_overlapped);
    // Our kernels always write the gradients of both weight and bias.
    at::Tensor of_weight, of_bias, of_x, of_branch;
    if (own || needs_weight) of_weight = writer.open_or_zeros(0).into;
    if (bias.defined() && (own || needs_bias)) of_bias = writer.open_or_zeros(1).into;
    if (own) {
      of_x = at::empty_like(sum);
      of_branch = draw.p > 0 ? at::empty_like(sum) : both(of_x);
      const std::int64_t width = sum.size(-1), rows = sum.numel() / width;
      const std::int64_t blocks = blocks_for(rows);
      const at::Tensor partial = at::empty({blocks, 2, width}, sum.options().dtype(at::kFloat));
      const LayerNormBackward launch{
          .of_normed = of_normed.const_data_ptr(),
          .of_sum = data_of(of_sum),
          .sum = sum.const_data_ptr(),
          .weight = weight.const_data_ptr(),
          .mean = saved[3].const_data_ptr<float>(),
          .inverse_deviation = saved[4].const_data_ptr<float>(),
          .of_x = of_x.mutable_data_ptr(),
          .of_branch = draw.p > 0 ? of_branch.mutable_data_ptr() : nullptr,
          .dropout = kernel_dropout(draw, sum),
          .partial = partial.mutable_data_ptr<float>(),
          .of_weight = of_weight.mutable_data_ptr<float>(),
          .of_bias = bias.defined() ? of_bias.mutable_data_ptr<float>() : nullptr,
          .dtype = *kernel_dtype(sum.scalar_type()),
          .rows = rows,
          .width = width,
          .blocks = blocks};
      layer_norm_kernels.backward(launch);
      writer.run({partial}, [launch] { layer_norm_kernels.shares(launch); });
    } else {
      const std::array<bool, 3> wanted{true, needs_weight, needs_bias};
      const auto [x, w, b] = at::native_layer_norm_backward(
          of_normed, sum, {sum.size(-1)}, saved[3], saved[4], parameter_for_aten(weight),
          parameter_for_aten(bias), wanted);
      of_x = of_sum.defined() ? x.add(of_sum) : x;
      of_branch = both(of_x);
      if (needs_weight) of_weight.add_(w);
      if (needs_bias) of_bias.add_(b);
    }
    return {of_x, of_branch, writer.returned(0), writer.returned(1), {}, {}, {}, {}, {}};
  }

 private:
  static DropoutDraw draw_of(torch::autograd::AutogradContext& context,
                             const torch::autograd::variable_list& saved) {
    return {.p = context.saved_data["p"].toDouble(),
            .counters = saved[5],
            .offsets = saved[6],
            .layer = context.saved_data["layer"].toInt()};
  }

  static torch::autograd::variable_list differentiable(
      torch::autograd::AutogradContext& context, const torch::autograd::variable_list& saved,
      const torch::autograd::variable_list& gradients) {
    const double epsilon = context.saved_data["epsilon"].toDouble();
    const bool branch = context.saved_data["branch"].toBool();
    const auto by_aten = [&](const std::vector<at::Tensor>& in) {
      // ATen's second derivative needs 1 / deviation in the type of x.
      const auto work = float_or_double(in[0]);
      const at::Tensor y =
          at::layer_norm(in[0].to(work), {in[0].size(-1)}, in[1].to(work),
                         in[2].defined() ? std::optional(in[2].to(work)) : std::nullopt, epsilon);
      return std::vector<at::Tensor>{y.to(in[0].scalar_type())};
    };
    const auto found =
        differentiable_gradients(by_aten, {saved[0], saved[1], saved[2]}, {gradients[0]});
    at::Tensor of_sum = branch ? gradients[1] : at::Tensor();
    if (found[0].defined()) of_sum = of_sum.defined() ? of_sum.add(found[0]) : found[0];
    const at::Tensor of_branch =
        branch && of_sum.defined() ? dropout(of_sum, draw_of(context, saved)) : at::Tensor();
    return {of_sum, of_branch, found[1], found[2], {}, {}, {}, {}, {}};
  }
};

}  // namespace

std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon) {
  LOCKSTEP_CHECK(x.dim() >= 1 && weight.dim() == 1 && weight.size(0) == x.size(-1));
  LOCKSTEP_CHECK(!branch.defined() || branch.sizes() == x.sizes());
  const auto outputs =
      ResidualLayerNorm::apply(x, if_defined(branch), weight, if_defined(bias), std::nullopt,
                               std::nullopt, epsilon, /*p=*/0.0, std::int64_t{0});
  return {branch.defined() ? outputs[1] : x, outputs[0]};
}

std::tuple<at::Tensor, at::Tensor> residual_layer_norm(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double epsilon,
                                                       const DropoutDraw& draw) {
  LOCKSTEP_CHECK(branch.defined() && branch.sizes() == x.sizes());
  // A draw that drops everything has no threshold.
  const bool own = draw.p > 0 && !dropout_rule(draw.p).drop_all && x.is_contiguous() &&
                   branch.is_contiguous() && own_path(x, branch, weight, bias);
  if (!own) return residual_layer_norm(x, dropout(branch, draw), weight, bias, epsilon);
  const at::Tensor offsets =
      draw.offsets.defined() ? draw.offsets.to(at::kLong).contiguous() : at::Tensor();
  const auto outputs =
      ResidualLayerNorm::apply(x, branch, weight, if_defined(bias), draw.counters.contiguous(),
                               if_defined(offsets), epsilon, draw.p, draw.layer);
  return {outputs[1], outputs[0]};
}

void register_cuda_layer_norm(LayerNormKernels kernels) { layer_norm_kernels = kernels; }

}  // namespace lockstep
