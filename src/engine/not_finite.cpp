#include "engine/not_finite.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>

namespace lockstep {

bool is_finite(const at::Tensor& values) {
  return !values.is_floating_point() || at::isfinite(values).all().item<bool>();
}

bool has_nan(const at::Tensor& values) {
  return values.is_floating_point() && at::isnan(values).any().item<bool>();
}

std::string weights_not_finite(const Arena& arena) {
  for (const Parameter& parameter : arena.parameters())
    if (!is_finite(parameter.tensor.detach())) return parameter.name;
  for (std::size_t i = 0; i < arena.frozen().size(); ++i)
    if (has_nan(arena.frozen().tensor(i))) return arena.frozen().name(i);
  return {};
}

std::string gradient_not_finite(const Arena& arena) {
  const at::Tensor& gradients = arena.gradients();
  for (std::size_t i = arena.parameters().size(); i-- > 0;)
    if (!is_finite(arena.view(gradients, i))) return arena.parameters()[i].name;
  return {};
}

}  // namespace lockstep
