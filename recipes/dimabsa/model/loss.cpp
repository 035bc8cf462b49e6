#include "recipes/dimabsa/model/loss.h"

#include "core/base/check.h"
#include "ops/chosen_losses/chosen_losses.h"
#include "recipes/dimabsa/model/batch.h"

#include <algorithm>
#include <tuple>

namespace lockstep::dimabsa {
namespace {

bool has(const std::vector<Pass>& passes, Pass pass) {
  return std::find(passes.begin(), passes.end(), pass) != passes.end();
}

}  // namespace

std::vector<at::Tensor> pass_losses(const Net& net, const std::vector<at::Tensor>& fields,
                                    const std::vector<Pass>& passes, const StepContext& context) {
  at::Tensor hidden = net.hidden(encoder_input(fields), context);
  const at::Tensor& first = field(fields, Field::first_tokens);
  const at::Tensor& text_pass = field(fields, Field::text_pass);
  const at::Tensor& text_weights = field(fields, Field::text_weights);
  const auto number = [](Pass pass) { return static_cast<std::int64_t>(pass); };
  // Each head passes the hidden states to the next one, so that their gradients are summed in
  // backward.
  at::Tensor of_spans, of_categories, values;
  if (has(passes, Pass::category)) {
    at::Tensor logits;
    std::tie(logits, hidden) = net.category_logits(hidden, first);
    of_categories = chosen_cross_entropy(logits.unsqueeze(1).unsqueeze(1), text_pass,
                                         field(fields, Field::categories).unsqueeze(1),
                                         text_weights.unsqueeze(1), number(Pass::category));
  }
  std::tie(values, hidden) = net.valence_arousal(hidden, first);
  const at::Tensor of_values = chosen_squares(values, text_pass, field(fields, Field::values),
                                              text_weights, number(Pass::valence));
  if (has(passes, Pass::aspects))
    of_spans = chosen_cross_entropy(net.span_logits(hidden), field(fields, Field::token_pass),
                                    field(fields, Field::span_targets),
                                    field(fields, Field::span_weights), number(Pass::aspects));
  std::vector<at::Tensor> sums;  // in the order of Pass
  for (const at::Tensor& of_passes : {of_spans, of_categories, of_values}) {
    if (!of_passes.defined()) continue;
    for (const at::Tensor& sum : of_passes.unbind()) sums.push_back(sum);
  }
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
