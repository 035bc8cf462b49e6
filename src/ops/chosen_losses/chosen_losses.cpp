#include "ops/chosen_losses/chosen_losses.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

namespace lockstep {
namespace {

ChosenLossKernels chosen_loss_kernels;  // set once, before the first step

bool loss_kernels_serve(const at::Tensor& values) {
  return values.is_cuda() && chosen_loss_kernels.forward != nullptr &&
         kernel_dtype(values.scalar_type()) && values.numel() > 0 &&
         values.size(1) <= chosen_most_questions;
}

void check_losses(const char* name, bool of_classes, const at::Tensor& values,
                  const at::Tensor& question, const at::Tensor& targets,
                  const at::Tensor& weights) {
  const bool fits = values.dim() == (of_classes ? 4 : 2) && values.is_floating_point();
  if (!fits)
    throw Error(cat(name, " wants floating ", of_classes ? "logits of [N, Q, M, C]" : "[N, Q]",
                    ", but got ", values.sizes(), " of ", values.scalar_type()));
  const std::int64_t rows = values.size(0);
  if (question.sizes() != at::IntArrayRef(rows) || question.scalar_type() != at::kLong)
    throw Error(cat(name, " wants a question per row, i64 [", rows, "], but got ", question.sizes(),
                    " of ", question.scalar_type()));
  std::vector<std::int64_t> wanted{rows};
  if (of_classes) wanted.push_back(values.size(2));
  const auto expect = [&](const char* what, const at::Tensor& tensor, at::ScalarType type) {
    if (tensor.sizes() != at::IntArrayRef(wanted) || tensor.scalar_type() != type)
      throw Error(cat(name, " wants ", what, " of ", type, " ", at::IntArrayRef(wanted),
                      ", but got ", tensor.sizes(), " of ", tensor.scalar_type()));
  };
  expect("targets", targets, of_classes ? at::kLong : at::kFloat);
  expect("weights", weights, at::kFloat);
  for (const at::Tensor& tensor : {question, targets, weights})
    if (tensor.device() != values.device())
      throw Error(
          cat(name, " wants all on ", values.device(), ", but got one on ", tensor.device()));
}

// All tensors must be contiguous.
ChosenLossArguments loss_arguments_of(const at::Tensor& values, const at::Tensor& question,
                                      const at::Tensor& targets, const at::Tensor& weights,
                                      std::int64_t first) {
  ChosenLossArguments arguments{.values = values.const_data_ptr(),
                                .dtype = kernel_dtype(values.scalar_type()).value(),
                                .question = question.const_data_ptr<std::int64_t>(),
                                .weights = weights.const_data_ptr<float>(),
                                .rows = values.size(0),
                                .questions = values.size(1),
                                .first = first};
  if (targets.scalar_type() == at::kFloat) {
    arguments.numbers = targets.const_data_ptr<float>();
    return arguments;
  }
  arguments.labels = targets.const_data_ptr<std::int64_t>();
  arguments.answers = values.size(2);
  arguments.classes = values.size(3);
  return arguments;
}

struct ChosenLoss : torch::autograd::Function<ChosenLoss> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& question, const at::Tensor& targets,
                            const at::Tensor& weights, std::int64_t first) {
    const at::Tensor given[] = {values.contiguous(), question.contiguous(), targets.contiguous(),
                                weights.contiguous()};
    const ChosenLossArguments shared =
        loss_arguments_of(given[0], given[1], given[2], given[3], first);
    const std::int64_t chunks = (shared.rows * shared.answers + chosen_chunk - 1) / chosen_chunk;
    const at::Tensor partial = at::empty({chunks, shared.questions}, weights.options());
    at::Tensor sums = at::empty({shared.questions}, weights.options());
    chosen_loss_kernels.forward({.shared = shared,
                                 .chunks = chunks,
                                 .partial = partial.mutable_data_ptr<float>(),
                                 .sums = sums.mutable_data_ptr<float>()});
    context->save_for_backward({values, question, targets, weights});
    context->saved_data["first"] = first;
    return sums;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const std::int64_t first = context->saved_data["first"].toInt();
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector{chosen_losses_reference(in[0], saved[1], saved[2], saved[3], first)};
      };
      return {differentiable_gradients(by_aten, {saved[0]}, gradients)[0], {}, {}, {}, {}};
    }
    const at::Tensor given[] = {saved[0].contiguous(), saved[1].contiguous(), saved[2].contiguous(),
                                saved[3].contiguous()};
    const at::Tensor of_sums = gradients[0].contiguous();
    at::Tensor of_values = at::empty_like(given[0]);
    chosen_loss_kernels.backward(
        {.shared = loss_arguments_of(given[0], given[1], given[2], given[3], first),
         .of_sums = of_sums.const_data_ptr<float>(),
         .of_values = of_values.mutable_data_ptr()});
    return {of_values, {}, {}, {}, {}};
  }
};

at::Tensor losses(const at::Tensor& values, const at::Tensor& question, const at::Tensor& targets,
                  const at::Tensor& weights, std::int64_t first) {
  if (!loss_kernels_serve(values))
    return chosen_losses_reference(values, question, targets, weights, first);
  return ChosenLoss::apply(values, question, targets, weights, first);
}

}  // namespace

at::Tensor chosen_losses_reference(const at::Tensor& values, const at::Tensor& question,
                                   const at::Tensor& targets, const at::Tensor& weights,
                                   std::int64_t first) {
  const auto work = values.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor wide = values.to(work), heavy = weights.to(work).unsqueeze(1);
  const std::int64_t rows = values.size(0), questions = values.size(1);
  at::Tensor each;  // [N, Q]
  if (targets.scalar_type() == at::kLong) {
    const at::Tensor at =
        targets.view({rows, 1, targets.size(1), 1}).expand({rows, questions, targets.size(1), 1});
    const at::Tensor found = at::log_softmax(wide, 3).gather(3, at).squeeze(3);
    each = found.mul(heavy).sum(2).neg();
  } else {
    const at::Tensor distance = wide.sub(targets.to(work).unsqueeze(1));
    each = distance.mul(distance).mul(heavy);
  }
  const at::Tensor all = at::arange(first, first + questions, question.options());
  const at::Tensor is_asked = question.unsqueeze(1).eq(all);
  return at::where(is_asked, each, at::zeros_like(each)).sum(0);
}

at::Tensor chosen_cross_entropy(const at::Tensor& logits, const at::Tensor& question,
                                const at::Tensor& targets, const at::Tensor& weights,
                                std::int64_t first) {
  check_losses("chosen_cross_entropy", /*of_classes=*/true, logits, question, targets, weights);
  return losses(logits, question, targets, weights, first);
}

at::Tensor chosen_squares(const at::Tensor& predictions, const at::Tensor& question,
                          const at::Tensor& targets, const at::Tensor& weights,
                          std::int64_t first) {
  check_losses("chosen_squares", /*of_classes=*/false, predictions, question, targets, weights);
  return losses(predictions, question, targets, weights, first);
}

void register_cuda_chosen_losses(ChosenLossKernels kernels) { chosen_loss_kernels = kernels; }

}  // namespace lockstep
