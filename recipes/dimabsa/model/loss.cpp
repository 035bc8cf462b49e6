#include "recipes/dimabsa/model/loss.h"

#include "base/check.h"
#include "kernels/chosen_losses.h"
#include "recipes/dimabsa/model/batch.h"

#include <algorithm>

namespace lockstep::dimabsa {
namespace {

bool has(const std::vector<Pass>& passes, Pass pass) {
  return std::find(passes.begin(), passes.end(), pass) != passes.end();
}

}  // namespace

std::vector<at::Tensor> pass_losses(const Net& net, const std::vector<at::Tensor>& fields,
                                    const std::vector<Pass>& passes, const StepContext& context) {
  const at::Tensor hidden = net.hidden(encoder_input(fields), context);
  const at::Tensor first = hidden.index_select(0, field(fields, Field::first_tokens));
  const at::Tensor& text_pass = field(fields, Field::text_pass);
  const at::Tensor& text_weights = field(fields, Field::text_weights);
  const auto number = [](Pass pass) { return static_cast<std::int64_t>(pass); };
  // Of several passes at once, in the order of Pass: fewer launches than one by one. Of no others:
  // autograd would make a gradient for each of them.
  std::vector<at::Tensor> sums;
  const auto add = [&](const at::Tensor& of_passes) {
    for (const at::Tensor& sum : of_passes.unbind()) sums.push_back(sum);
  };
  if (has(passes, Pass::aspects))
    add(chosen_cross_entropy(net.span_logits(hidden), field(fields, Field::token_pass),
                             field(fields, Field::span_targets), field(fields, Field::span_weights),
                             number(Pass::aspects)));
  if (has(passes, Pass::category))
    add(chosen_cross_entropy(net.category_logits(first).unsqueeze(1).unsqueeze(1), text_pass,
                             field(fields, Field::categories).unsqueeze(1),
                             text_weights.unsqueeze(1), number(Pass::category)));
  add(chosen_squares(net.valence_arousal(first), text_pass, field(fields, Field::values),
                     text_weights, number(Pass::valence)));
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
