#include "recipes/dimabsa/model/loss.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/log_softmax.h>

#include <algorithm>

#include "recipes/dimabsa/model/batch.h"

namespace lockstep::dimabsa {
namespace {

// f32 [passes, values of the first dimension]: 1 where `of` is the pass, of all in their order.
at::Tensor is_pass(const at::Tensor& of) {
  const auto passes = static_cast<std::int64_t>(pass_count);
  return of.eq(at::arange(passes, of.options()).unsqueeze(1)).to(at::kFloat);
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
  const at::Tensor texts = is_pass(field(fields, Field::text_pass));
  // Sums over all passes at once, of which each takes its own: fewer launches than one by one.
  std::vector<at::Tensor> spans, categories;
  if (has(passes, Pass::aspects))
    spans = is_pass(field(fields, Field::token_pass))
                .mul(span_losses(net, hidden, fields))
                .sum(1)
                .unbind();
  if (has(passes, Pass::category))
    categories = texts.mul(category_losses(net, first, fields)).sum(1).unbind();
  const std::vector<at::Tensor> squares =
      texts.unsqueeze(2).mul(square_losses(net, first, fields)).sum(1).flatten().unbind();
  std::vector<at::Tensor> sums;
  for (const Pass pass : passes) {
    const auto place = static_cast<std::size_t>(pass);
    if (marks_spans(pass))
      sums.push_back(spans[place]);
    else if (pass == Pass::category)
      sums.push_back(categories[place]);
    else
      sums.push_back(squares[2 * place + (pass == Pass::valence ? 0 : 1)]);
  }
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
