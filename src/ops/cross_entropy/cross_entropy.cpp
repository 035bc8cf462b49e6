// Computes the loss in pieces of rows, by the implementation for the device.
#include "ops/cross_entropy/cross_entropy.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/matmul/matmul.h"
#include "ops/shared/index_check.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace lockstep {
namespace {

std::atomic<CrossEntropyKernel> cuda_cross_entropy = nullptr;

std::int64_t rows_a_piece(const at::Tensor& hidden, const at::Tensor& weight,
                          std::int64_t piece_bytes) {
  const std::int64_t rows = hidden.size(0);
  const std::int64_t row_bytes = weight.size(0) * hidden.element_size();
  const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / row_bytes);
  const std::int64_t pieces = (rows + most - 1) / most;
  return pieces <= 1 ? std::max<std::int64_t>(rows, 1) : (rows + pieces - 1) / pieces;
}

constexpr const char* linear_cross_entropy_help =
    "compute this loss with the matrix product and at::cross_entropy_loss";

struct LinearCrossEntropy : torch::autograd::Function<LinearCrossEntropy> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& hidden,
                            const at::Tensor& weight, const at::Tensor& targets,
                            const at::Tensor& scale, std::int64_t piece_bytes,
                            bool with_gradients) {
    const std::int64_t rows = hidden.size(0);
    const std::int64_t piece = rows_a_piece(hidden, weight, piece_bytes);
    at::Tensor of_hidden, of_weight;
    if (with_gradients && hidden.requires_grad()) of_hidden = at::empty_like(hidden);
    const bool needs_weight = with_gradients && weight.requires_grad();
    const auto buffer = needs_weight ? gradient_buffer_of(weight) : nullptr;
    const bool buffered = buffer != nullptr;
    if (buffered)
      of_weight = buffer->open({}, weight.scalar_type()).into;
    else if (needs_weight)
      of_weight = at::zeros(weight.sizes(), weight.options().dtype(at::kFloat));
    const at::Tensor losses = at::empty({rows}, hidden.options().dtype(at::kFloat));
    for (std::int64_t begin = 0; begin < rows; begin += piece) {
      const std::int64_t count = std::min(piece, rows - begin);
      const at::Tensor part = hidden.narrow(0, begin, count);
      const at::Tensor logits = at::empty({count, weight.size(0)}, hidden.options());
      matmul_into(logits, part, weight.t());
      losses.narrow(0, begin, count)
          .copy_(cross_entropy_in_place(logits, targets.narrow(0, begin, count), scale));
      if (of_hidden.defined()) matmul_into(of_hidden.narrow(0, begin, count), logits, weight);
      if (of_weight.defined()) matmul_into(of_weight, logits.t(), part, {}, true);
    }
    if (buffered)
      of_weight.reset();
    else if (of_weight.defined())
      of_weight = of_weight.to(weight.scalar_type());
    context->save_for_backward({of_hidden, of_weight, weight});
    context->saved_data["buffered"] = buffered;
    return losses.sum();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list /*gradients*/) {
    refuse_second_derivative("linear_cross_entropy", linear_cross_entropy_help);
    const auto saved = context->get_saved_variables();
    const bool needs_weight = context->needs_input_grad(1);
    if (context->saved_data["buffered"].toBool() &&
        !(needs_weight && gradient_buffer_of_this_pass(saved[2])))
      throw Error(
          "linear_cross_entropy adds its weight's gradient up where the loss is made, and cannot "
          "take that back for a gradient of some tensors alone (torch::autograd::grad)",
          linear_cross_entropy_help);
    return {saved[0], saved[1], {}, {}, {}, {}};
  }
};

}  // namespace

at::Tensor cross_entropy_reference(const at::Tensor& logits, const at::Tensor& targets,
                                   const at::Tensor& scale) {
  const auto work = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor log_p = at::log_softmax(logits, -1, work);
  const at::Tensor counts = targets.ge(0);
  const at::Tensor column = targets.clamp_min(0).unsqueeze(1);
  // Ignored rows may contain infinity or NaN. A product with 0 would keep these, so where() is
  // used.
  const at::Tensor picked = log_p.gather(1, column).squeeze(1).neg().to(at::kFloat);
  const at::Tensor losses = at::where(counts, picked, 0.0);
  at::Tensor gradient = log_p.exp_();
  gradient.scatter_add_(1, column, at::full_like(column, -1, gradient.options()));
  logits.copy_(at::where(counts.unsqueeze(1), gradient.mul_(scale), 0.0));
  return losses;
}

at::Tensor cross_entropy_in_place(const at::Tensor& logits, const at::Tensor& targets,
                                  const at::Tensor& scale) {
  LOCKSTEP_CHECK(logits.dim() == 2 && logits.is_contiguous());
  LOCKSTEP_CHECK(targets.dim() == 1 && targets.size(0) == logits.size(0));
  LOCKSTEP_CHECK(targets.scalar_type() == at::kLong);
  LOCKSTEP_CHECK(scale.scalar_type() == at::kFloat && scale.numel() == 1);
  check_indices(targets, std::numeric_limits<std::int64_t>::min(), logits.size(1),
                "targets of the loss");
  const CrossEntropyKernel kernel = cuda_cross_entropy;
  const auto dtype = kernel_dtype(logits.scalar_type());
  if (!logits.is_cuda() || kernel == nullptr || !dtype || logits.numel() == 0)
    return cross_entropy_reference(logits, targets, scale);
  const at::Tensor rows = targets.contiguous();
  at::Tensor losses = at::empty({logits.size(0)}, logits.options().dtype(at::kFloat));
  kernel({.logits = logits.mutable_data_ptr(),
          .dtype = *dtype,
          .targets = rows.const_data_ptr<std::int64_t>(),
          .scale = scale.const_data_ptr<float>(),
          .losses = losses.mutable_data_ptr<float>(),
          .rows = logits.size(0),
          .classes = logits.size(1)});
  return losses;
}

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                const at::Tensor& targets, const at::Tensor& scale,
                                std::int64_t piece_bytes) {
  LOCKSTEP_CHECK(hidden.dim() == 2 && weight.dim() == 2 && hidden.size(1) == weight.size(1));
  return LinearCrossEntropy::apply(hidden, weight, targets, scale, piece_bytes,
                                   at::GradMode::is_enabled());
}

void register_cuda_cross_entropy(CrossEntropyKernel kernel) { cuda_cross_entropy = kernel; }

}  // namespace lockstep
