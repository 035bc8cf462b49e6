// What a recipe's forward pass asks of its surroundings.
#include "engine/recipe.h"
#include "kernels/dropout.h"

namespace lockstep {

at::Tensor StepContext::dropout(const at::Tensor& x, double p, std::int64_t layer) const {
  if (!training || p == 0) return x;
  return lockstep::dropout(x, p, counters, layer);
}

}  // namespace lockstep
