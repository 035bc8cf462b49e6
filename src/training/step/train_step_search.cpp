// The search for the first number of a step that is not finite.
#include "training/step/train_step.h"

#include "core/base/text/text.h"

namespace lockstep {

NotFinite TrainStep::find_not_finite(const StepInputs& inputs) {
  if (const std::string name = weights_not_finite(parts_.gradients.storage()); !name.empty())
    return {.tensor = cat("the weights ", name), .in_weights = true};
  parts_.buffers.remember();
  const StepFactors factors = step_factors(inputs.weights, parts_.optimizer.loss_scale());
  NotFinite found;
  for (std::size_t m = 0; m < inputs.micro.size() && !found.found(); ++m)
    found = {.micro_batch = static_cast<std::int64_t>(m),
             .tensor = first_not_finite(inputs, m, factors)};
  parts_.gradients.drop();
  parts_.buffers.undo();
  return found;
}

// Returns the name of the first tensor of micro-batch m that is not finite; empty if all are
// finite.
std::string TrainStep::first_not_finite(const StepInputs& inputs, std::size_t m,
                                        const StepFactors& factors) {
  const std::vector<at::Tensor>& fields = inputs.micro[m];
  for (std::size_t f = 0; f + 2 < fields.size(); ++f)
    if (!is_finite(fields[f])) return cat("field ", f, " of the samples");
  parts_.gradients.drop();
  const at::Tensor sums = numbers_.new_sums(stamps_.options());
  forward_backward(inputs, m, factors, sums, /*last=*/false, Pass::of_search);
  const std::vector<std::string> terms = parts_.recipe.terms();
  for (std::size_t term = 0; term < terms_; ++term)
    if (!is_finite(sums[static_cast<std::int64_t>(term)]))
      return cat("the term ", terms[term], " of the loss");
  parts_.gradients.place();
  const std::string name = gradient_not_finite(parts_.gradients);
  return name.empty() ? "" : cat("the gradient of ", name);
}

}  // namespace lockstep
