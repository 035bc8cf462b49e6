#include "recipes/dimabsa/model/loss.h"

#include "base/check.h"
#include "recipes/dimabsa/model/batch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/log_softmax.h>

#include <algorithm>

namespace lockstep::dimabsa {
namespace {

// f32 [count, n]: of so many passes from `first` on, 1 where `of` [n] is the pass.
at::Tensor is_pass(const at::Tensor& of, Pass first, std::int64_t count) {
  const auto begin = static_cast<std::int64_t>(first);
  const at::Tensor passes = at::arange(begin, begin + count, of.options());
  return of.eq(passes.unsqueeze(1)).to(at::kFloat);
}

// f32 [N]: of each token the weighted cross-entropy of its start and its end.
at::Tensor span_losses(const Net& net, const at::Tensor& hidden,
                       const std::vector<at::Tensor>& fields) {
  const at::Tensor pass = field(fields, Field::token_pass)
                              .clamp(0, static_cast<std::int64_t>(span_passes) - 1)
                              .view({-1, 1, 1, 1})
                              .expand({-1, 1, 2, 2});
  const at::Tensor logits = net.span_logits(hidden).gather(1, pass).squeeze(1);  // [N, 2, 2]
  const at::Tensor log_p = at::log_softmax(logits, 2);
  const at::Tensor found =
      log_p.gather(2, field(fields, Field::span_targets).unsqueeze(2)).squeeze(2);
  return found.mul(field(fields, Field::span_weights)).sum(1).neg();
}

// f32 [S].
at::Tensor category_losses(const Net& net, const at::Tensor& first,
                           const std::vector<at::Tensor>& fields) {
  const at::Tensor log_p = at::log_softmax(net.category_logits(first), 1);
  const at::Tensor targets = field(fields, Field::categories).unsqueeze(1);
  return log_p.gather(1, targets).squeeze(1).neg().mul(field(fields, Field::text_weights));
}

// f32 [S, 2]: as if each text asked for both.
at::Tensor square_losses(const Net& net, const at::Tensor& first,
                         const std::vector<at::Tensor>& fields) {
  const at::Tensor distance =
      net.valence_arousal(first).sub(field(fields, Field::values).unsqueeze(1));
  return distance.mul(distance).mul(field(fields, Field::text_weights).unsqueeze(1));
}

bool has(const std::vector<Pass>& passes, Pass pass) {
  return std::find(passes.begin(), passes.end(), pass) != passes.end();
}

}  // namespace

std::vector<at::Tensor> pass_losses(const Net& net, const std::vector<at::Tensor>& fields,
                                    const std::vector<Pass>& passes, const StepContext& context) {
  const at::Tensor hidden = net.hidden(encoder_input(fields), context);
  const at::Tensor first = hidden.index_select(0, field(fields, Field::first_tokens));
  const at::Tensor& text_pass = field(fields, Field::text_pass);
  // Sums over several passes at once, in the order of Pass: fewer launches than one by one. Over no
  // others: autograd would make a gradient for each of them.
  std::vector<at::Tensor> sums;
  const auto add = [&](const at::Tensor& of_passes) {
    for (const at::Tensor& sum : of_passes.unbind()) sums.push_back(sum);
  };
  if (has(passes, Pass::aspects))
    add(is_pass(field(fields, Field::token_pass), Pass::aspects, span_passes)
            .mul(span_losses(net, hidden, fields))
            .sum(1));
  if (has(passes, Pass::category))
    add(is_pass(text_pass, Pass::category, 1).mul(category_losses(net, first, fields)).sum(1));
  add(is_pass(text_pass, Pass::valence, 2).t().mul(square_losses(net, first, fields)).sum(0));
  LOCKSTEP_CHECK(sums.size() == passes.size());
  return sums;
}

std::vector<double> pass_weights(const std::vector<at::Tensor>& fields,
                                 const std::vector<Pass>& passes) {
  std::vector<double> weights(passes.size(), 0);
  const at::Tensor& rows = field(fields, Field::row_pass);
  const auto* const row = rows.const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < passes.size(); ++i)
    weights[i] = static_cast<double>(
        std::count(row, row + rows.numel(), static_cast<std::int64_t>(passes[i])));
  return weights;
}

}  // namespace lockstep::dimabsa
