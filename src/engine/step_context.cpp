// What a recipe's forward pass asks of its surroundings.
#include "engine/recipe.h"
#include "kernels/dropout.h"

namespace lockstep {

at::Tensor StepContext::dropout(const at::Tensor& x, double p, std::int64_t layer) const {
  if (!training || p == 0) return x;
  return lockstep::dropout(x, p, counters, layer);
}

std::vector<at::Tensor> StepContext::block(std::int64_t index, const PureFunction& function,
                                           const std::vector<at::Tensor>& inputs,
                                           const std::vector<at::Tensor>& parameters) const {
  if (!training || index >= recomputed_blocks) return function(inputs);
  return recomputed(function, inputs, parameters);
}

}  // namespace lockstep
