// A single product for three weights. If they are not adjacent in memory, they are concatenated
// first.
#include "ops/linear/joined_linear.h"

#include "core/base/check.h"
#include "ops/column_sums/column_sums.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/matmul/matmul.h"
#include "ops/shared/second_derivative.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace lockstep {
namespace {

bool lie_together(const ThreeTensors& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_contiguous() || !parts[i].is_alias_of(parts[0])) return false;
    const std::int64_t elements = static_cast<std::int64_t>(i) * parts[0].numel();
    if (parts[i].storage_offset() != parts[0].storage_offset() + elements) return false;
  }
  return true;
}

// Returns [3 * n, ...]. It is a view if the three tensors are adjacent in memory.
at::Tensor joined(const ThreeTensors& parts) {
  if (!lie_together(parts)) return at::cat({parts[0], parts[1], parts[2]});
  std::vector<std::int64_t> sizes = parts[0].sizes().vec();
  sizes[0] *= 3;
  return parts[0].as_strided(sizes, parts[0].strides(), parts[0].storage_offset());
}

// Adds the gradients of three parameters. The first of them is the writer's k-th parameter.
// of_all(sum [3 * n, ...], is_first) adds all three gradients to `sum`, or overwrites `sum` if
// is_first is true. Only parameters that can be overwritten allow is_first. A gradient without a
// buffer is returned to autograd in `result`. wanted: which gradients are needed. On the side
// stream, of_all is called after this function has returned. It reads the tensors `read`.
template <class OfAll>
void give_each(GradientWriter& writer, std::size_t k, const ThreeTensors& parameters,
               const std::array<bool, 3>& wanted, std::initializer_list<at::Tensor> read,
               at::Tensor* result, const OfAll& of_all) {
  ThreeTensors buffers;
  std::array<bool, 3> is_first{};
  bool have_all = true;
  writer.round_all_or_none(k, k + buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const GradientTarget target = writer.open(k + i);
    buffers[i] = target.into;
    is_first[i] = target.overwrite;
    have_all &= buffers[i].defined();
  }
  const bool all_first = is_first == std::array{true, true, true};
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (is_first[i] && !all_first) buffers[i].zero_();
  const at::ScalarType type = parameters[0].scalar_type();
  // Adds the gradients to their buffers. Returns those of parameters without a buffer.
  const auto add_up = [=] {
    std::vector<std::int64_t> sizes = parameters[0].sizes().vec();
    const std::int64_t rows = sizes[0];
    sizes[0] *= 3;
    const at::Tensor sum = at::zeros(
        sizes, parameters[0].options().dtype(type == at::kDouble ? at::kDouble : at::kFloat));
    of_all(sum, false);
    ThreeTensors rest;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const at::Tensor part = sum.narrow(0, static_cast<std::int64_t>(i) * rows, rows);
      if (buffers[i].defined() && all_first)
        buffers[i].copy_(part);
      else if (buffers[i].defined())
        buffers[i].add_(part);
      else
        rest[i] = part;
    }
    return rest;
  };
  if (have_all)
    return writer.run(read, [=] {
      if (lie_together(buffers))
        of_all(joined(buffers), all_first);
      else
        add_up();
    });
  const ThreeTensors rest = add_up();
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].defined() && wanted[i]) result[i] = rest[i].to(type);
}

struct JoinedLinear : torch::autograd::Function<JoinedLinear> {
  // beside: whether x is returned as a second result.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& x, const at::Tensor& w0,
                                                const at::Tensor& w1, const at::Tensor& w2,
                                                const at::Tensor& b0, const at::Tensor& b1,
                                                const at::Tensor& b2, bool beside) {
    context->set_materialize_grads(false);
    context->save_for_backward({x, w0, w1, w2, b0, b1, b2});
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = 3;
    sizes.push_back(w0.size(0));
    const at::Tensor out = at::empty(sizes, x.options());
    matmul_into(out.view({-1, 3 * w0.size(0)}), x.reshape({-1, x.size(-1)}),
                joined({w0, w1, w2}).t(), joined({b0, b1, b2}));
    if (!beside) return {out};
    return {out, x.detach()};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    torch::autograd::variable_list result(8);
    const at::Tensor other = gradients.size() > 1 ? gradients[1] : at::Tensor();
    result[0] = other;
    if (!gradients[0].defined()) return result;
    const auto saved = context->get_saved_variables();
    if (is_differentiated()) {
      result = differentiable_gradients(&by_aten, saved, {gradients[0]});
      if (other.defined() && result[0].defined()) result[0] = result[0].add(other);
      result.emplace_back();
      return result;
    }
    const at::Tensor& x = saved[0];
    const ThreeTensors weights{saved[1], saved[2], saved[3]}, biases{saved[4], saved[5], saved[6]};
    const at::Tensor up = gradients[0].reshape({-1, 3 * weights[0].size(0)});
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    const auto wanted = [&](std::size_t first) {
      return std::array{context->needs_input_grad(first), context->needs_input_grad(first + 1),
                        context->needs_input_grad(first + 2)};
    };
    const std::array none{false, false, false};
    const auto weight = [&](std::size_t i) {
      return GradientWriter::Wanted{.parameter = saved[i],
                                    .needed = context->needs_input_grad(i),
                                    .can = {.overwrites = true, .rounds = true}};
    };
    const auto bias = [&](std::size_t i) {
      return GradientWriter::Wanted{.parameter = saved[i], .needed = context->needs_input_grad(i)};
    };
    GradientWriter writer({weight(1), weight(2), weight(3), bias(4), bias(5), bias(6)},
                          bytes_of({up, rows}));
    const auto of_parameters = [&] {
      if (wanted(1) != none)
        give_each(writer, 0, weights, wanted(1), {up, rows}, &result[1],
                  [up, rows](const at::Tensor& into, bool is_first) {
                    matmul_into(into, up.t(), rows, {}, /*accumulate=*/!is_first);
                  });
      if (wanted(4) != none)
        give_each(writer, 3, biases, wanted(4), {up}, &result[4],
                  [up](const at::Tensor& into, bool) { add_column_sums(into, up); });
    };
    if (writer.on_side_stream()) of_parameters();
    if (context->needs_input_grad(0)) {
      result[0] = at::empty(x.sizes(), x.options());
      const at::Tensor of_rows = result[0].view({-1, x.size(-1)});
      if (other.defined())
        matmul_plus(of_rows, other.reshape({-1, x.size(-1)}).contiguous(), up, joined(weights));
      else
        matmul_into(of_rows, up, joined(weights));
    }
    if (!writer.on_side_stream()) of_parameters();
    return result;
  }

 private:
  static std::vector<at::Tensor> by_aten(const std::vector<at::Tensor>& in) {
    std::vector<std::int64_t> sizes = in[0].sizes().vec();
    sizes.back() = 3;
    sizes.push_back(in[1].size(0));
    return {at::linear(in[0], at::cat({in[1], in[2], in[3]}), at::cat({in[4], in[5], in[6]}))
                .view(sizes)};
  }
};

torch::autograd::variable_list apply(const at::Tensor& x, const ThreeTensors& weights,
                                     const ThreeTensors& biases, bool beside) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    LOCKSTEP_CHECK(weights[i].dim() == 2 && weights[i].sizes() == weights[0].sizes());
    LOCKSTEP_CHECK(biases[i].dim() == 1 && biases[i].size(0) == weights[0].size(0));
  }
  return JoinedLinear::apply(x, weights[0], weights[1], weights[2], biases[0], biases[1], biases[2],
                             beside);
}

}  // namespace

at::Tensor joined_linear(const at::Tensor& x, const ThreeTensors& weights,
                         const ThreeTensors& biases) {
  return apply(x, weights, biases, /*beside=*/false)[0];
}

std::tuple<at::Tensor, at::Tensor> joined_linear_beside(const at::Tensor& x,
                                                        const ThreeTensors& weights,
                                                        const ThreeTensors& biases) {
  const auto both = apply(x, weights, biases, /*beside=*/true);
  return {both[0], both[1]};
}

}  // namespace lockstep
