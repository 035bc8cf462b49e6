#include "ops/pointwise/pointwise.h"

#include "ops/column_sums/column_sums.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/matmul/matmul.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;

// Views a channels-last tensor as [B * H * W, C].
at::Tensor rows_of_pixels(const at::Tensor& x) {
  return x.permute({0, 2, 3, 1}).view({-1, x.size(1)});
}
at::Tensor matrix_of(const at::Tensor& weight) {
  return weight.view({weight.size(0), weight.size(1)});
}
at::Tensor empty_like_with(const at::Tensor& x, std::int64_t channels) {
  return at::empty({x.size(0), channels, x.size(2), x.size(3)},
                   x.options().memory_format(channels_last));
}

PointwiseMomentsKernel moments_kernel;  // set once, before the first step

bool tells_moments(const at::Tensor& x, const at::Tensor& weight) {
  return moments_kernel.forward != nullptr &&
         (x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf) && aligned(x) &&
         aligned(weight) && x.size(1) == pointwise_moments_depth && weight.size(0) > 0 &&
         weight.size(0) % pointwise_moments_outs == 0 && moments_kernel.runs_here();
}

// Writes x times the weight to `out`.
ChannelMoments multiply_with_moments(const at::Tensor& out, const at::Tensor& x,
                                     const at::Tensor& weight) {
  const std::int64_t rows = x.numel() / x.size(1), outs = weight.size(0);
  const std::int64_t chunks = std::min(
      pointwise_moments_chunks, (rows + pointwise_moments_tile - 1) / pointwise_moments_tile);
  const auto f32 = x.options().dtype(at::kFloat);
  ChannelMoments moments{.partial = at::empty({chunks, 2, outs}, f32),
                         .elements = at::empty({chunks}, f32)};
  moments_kernel.forward({.dtype = *kernel_dtype(x.scalar_type()),
                          .x = x.const_data_ptr(),
                          .weight = weight.const_data_ptr(),
                          .y = out.mutable_data_ptr(),
                          .partial = moments.partial.mutable_data_ptr<float>(),
                          .elements = moments.elements.mutable_data_ptr<float>(),
                          .rows = rows,
                          .chunks = chunks,
                          .outs = static_cast<int>(outs)});
  return moments;
}

struct Pointwise : torch::autograd::Function<Pointwise> {
  // beside: whether x is returned as a second result. moments: receives the result's moments if it
  // is not null and the kernel can compute them.
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                               bool beside, ChannelMoments* moments) {
    context->save_for_backward({x, weight, bias.value_or(at::Tensor())});
    context->set_materialize_grads(false);
    const at::Tensor out = empty_like_with(x, weight.size(0));
    if (moments != nullptr && !bias && tells_moments(x, weight))
      *moments = multiply_with_moments(out, x, weight);
    else
      matmul_into(rows_of_pixels(out), rows_of_pixels(x), matrix_of(weight).t(),
                  bias.value_or(at::Tensor()));
    if (!beside) return {out};
    return {out, x.detach()};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    const at::Tensor other = gradients.size() > 1 ? gradients[1] : at::Tensor();
    if (!gradients[0].defined()) return {other, {}, {}, {}, {}};
    if (is_differentiated()) return differentiable(saved, gradients[0], other);
    const at::Tensor up = gradients[0].contiguous(channels_last);
    const bool needs_weight = context->needs_input_grad(1);
    const bool needs_bias = bias.defined() && context->needs_input_grad(2);
    GradientWriter writer(
        {{.parameter = weight, .needed = needs_weight, .can = {.overwrites = true, .rounds = true}},
         {.parameter = bias, .needed = needs_bias}},
        bytes_of({up, x}));
    const auto of_parameters = [&] {
      GradientTarget of_w, of_b;
      if (needs_weight) of_w = writer.open_or_zeros(0);
      if (needs_bias) of_b = writer.open_or_zeros(1);
      const at::Tensor ups = rows_of_pixels(up), rows = rows_of_pixels(x);
      writer.run({ups, rows}, [of_w, of_b, ups, rows] {
        if (of_w.into.defined())
          matmul_into(matrix_of(of_w.into), ups.t(), rows, {}, /*accumulate=*/!of_w.overwrite);
        if (of_b.into.defined()) add_column_sums(of_b.into, ups);
      });
    };
    if (writer.on_side_stream()) of_parameters();
    at::Tensor of_x;
    if (context->needs_input_grad(0)) {
      of_x = empty_like_with(x, x.size(1));
      if (other.defined())
        matmul_plus(rows_of_pixels(of_x), rows_of_pixels(other.contiguous(channels_last)),
                    rows_of_pixels(up), matrix_of(weight));
      else
        matmul_into(rows_of_pixels(of_x), rows_of_pixels(up), matrix_of(weight));
    }
    if (!writer.on_side_stream()) of_parameters();
    return {of_x, writer.returned(0), writer.returned(1), {}, {}};
  }

 private:
  static variable_list differentiable(const variable_list& saved, const at::Tensor& up,
                                      const at::Tensor& other) {
    const auto by_aten = [](const std::vector<at::Tensor>& in) {
      return std::vector<at::Tensor>{at::conv2d(in[0], in[1], if_defined(in[2]))};
    };
    variable_list found = differentiable_gradients(by_aten, saved, {up});
    if (other.defined() && found[0].defined()) found[0] = found[0].add(other);
    found.resize(5);
    return found;
  }
};

// Two convolutions of the same input. One product computes the channels of both. It is padded to a
// multiple of 16 channels, so that the library can use its fast algorithms.
struct PointwisePair : torch::autograd::Function<PointwisePair> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const at::Tensor& weight, const at::Tensor& other_weight,
                               const at::Tensor& bias, const at::Tensor& other_bias) {
    const std::int64_t first = weight.size(0), second = other_weight.size(0);
    const std::int64_t padded = (first + second + 15) / 16 * 16, padding = padded - first - second;
    const at::Tensor both = at::cat({matrix_of(weight), matrix_of(other_weight),
                                     at::zeros({padding, x.size(1)}, weight.options())});
    const at::Tensor biases = at::cat({bias, other_bias, at::zeros({padding}, bias.options())});
    context->save_for_backward({x, weight, other_weight, bias, other_bias, both});
    context->set_materialize_grads(false);
    const at::Tensor out = empty_like_with(x, padded);
    matmul_into(rows_of_pixels(out), rows_of_pixels(x), both.t(), biases);
    // so that autograd sees separate results, not views
    const at::AutoDispatchBelowADInplaceOrView no_views;
    return {out.narrow(1, 0, first), out.narrow(1, first, second)};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &both = saved[5];
    if (!gradients[0].defined() && !gradients[1].defined()) return variable_list(5);
    if (is_differentiated()) return differentiable(saved, gradients);
    const at::Tensor up = side_by_side(saved, gradients);
    at::Tensor of_x;
    if (context->needs_input_grad(0)) {
      of_x = empty_like_with(x, x.size(1));
      matmul_into(rows_of_pixels(of_x), up, both);
    }
    variable_list found{of_x, {}, {}, {}, {}};
    if (context->needs_input_grad(1) || context->needs_input_grad(2)) {
      const at::Tensor of_both = at::empty(both.sizes(), both.options().dtype(at::kFloat));
      matmul_into(of_both, up.t(), rows_of_pixels(x));
      share_out(context, saved, 1, of_both, found);
    }
    if (context->needs_input_grad(3) || context->needs_input_grad(4)) {
      const at::Tensor sums = at::zeros({both.size(0)}, both.options().dtype(at::kFloat));
      add_column_sums(sums, up);
      share_out(context, saved, 3, sums, found);
    }
    return found;
  }

 private:
  // Joins the gradients of both results to [B * H * W, padded channels].
  static at::Tensor side_by_side(const variable_list& saved, const variable_list& gradients) {
    const at::Tensor &x = saved[0], &both = saved[5];
    const std::int64_t rows = x.size(0) * x.size(2) * x.size(3);
    std::vector<at::Tensor> parts;
    std::int64_t left = both.size(0);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t channels = saved[1 + i].size(0);
      parts.push_back(gradients[i].defined()
                          ? gradients[i].permute({0, 2, 3, 1}).reshape({rows, channels})
                          : at::zeros({rows, channels}, x.options()));
      left -= channels;
    }
    parts.push_back(at::zeros({rows, left}, x.options()));
    return at::cat(parts, 1);
  }
  // Adds rows of `all` to the gradients of two parameters: the inputs `input` and `input + 1`.
  static void share_out(AutogradContext* context, const variable_list& saved, std::size_t input,
                        const at::Tensor& all, variable_list& found) {
    GradientWriter writer(
        {{.parameter = saved[input], .needed = context->needs_input_grad(input)},
         {.parameter = saved[input + 1], .needed = context->needs_input_grad(input + 1)}});
    std::int64_t begin = 0;
    for (const std::size_t i : {input, input + 1}) {
      const at::Tensor& parameter = saved[i];
      const at::Tensor own = all.narrow(0, begin, parameter.size(0)).view(parameter.sizes());
      begin += parameter.size(0);
      if (!context->needs_input_grad(i)) continue;
      if (const GradientTarget target = writer.open(i - input); target.into.defined())
        target.into.add_(own);
      else
        found[i] = own.to(parameter.scalar_type());
    }
  }
  static variable_list differentiable(const variable_list& saved, const variable_list& gradients) {
    const auto by_aten = [](const std::vector<at::Tensor>& in) {
      return std::vector<at::Tensor>{at::conv2d(in[0], in[1], in[3]),
                                     at::conv2d(in[0], in[2], in[4])};
    };
    return differentiable_gradients(by_aten, {saved.begin(), saved.begin() + 5}, gradients);
  }
};

bool product_serves(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                    bool anywhere = false) {
  return (anywhere || x.is_cuda()) && x.dim() == 4 && x.numel() > 0 &&
         kernel_dtype(x.scalar_type()) && x.is_contiguous(channels_last) && weight.dim() == 4 &&
         weight.size(1) == x.size(1) && weight.size(2) == 1 && weight.size(3) == 1 &&
         weight.scalar_type() == x.scalar_type() && weight.is_contiguous() &&
         (!bias.defined() || bias.scalar_type() == x.scalar_type());
}

}  // namespace

at::Tensor pointwise_convolution(const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias, ChannelMoments* moments) {
  if (!product_serves(x, weight, bias)) return at::conv2d(x, weight, if_defined(bias));
  return Pointwise::apply(x, weight, if_defined(bias), /*beside=*/false, moments)[0];
}

std::tuple<at::Tensor, at::Tensor> pointwise_convolution_beside(const at::Tensor& x,
                                                                const at::Tensor& weight,
                                                                const at::Tensor& bias) {
  if (!product_serves(x, weight, bias)) return {at::conv2d(x, weight, if_defined(bias)), x};
  const variable_list both = Pointwise::apply(x, weight, if_defined(bias), /*beside=*/true,
                                              static_cast<ChannelMoments*>(nullptr));
  return {both[0], both[1]};
}

std::array<at::Tensor, 2> pointwise_convolutions(const at::Tensor& x,
                                                 const std::array<at::Tensor, 2>& weights,
                                                 const std::array<at::Tensor, 2>& biases) {
  for (std::size_t i = 0; i < 2; ++i)
    if (!product_serves(x, weights[i], biases[i], /*anywhere=*/true))
      return {pointwise_convolution(x, weights[0], biases[0]),
              pointwise_convolution(x, weights[1], biases[1])};
  const variable_list both = PointwisePair::apply(x, weights[0], weights[1], biases[0], biases[1]);
  return {both[0], both[1]};
}

void register_cuda_pointwise_moments(PointwiseMomentsKernel kernel) { moments_kernel = kernel; }

}  // namespace lockstep
