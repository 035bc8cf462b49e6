#include "training/gradients/not_finite.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>

namespace lockstep {

bool is_finite(const at::Tensor& values) {
  return !values.is_floating_point() || at::isfinite(values).all().item<bool>();
}

bool has_nan(const at::Tensor& values) {
  return values.is_floating_point() && at::isnan(values).any().item<bool>();
}

std::string weights_not_finite(const ParameterStorage& storage) {
  for (const Parameter& parameter : storage.parameters())
    if (!is_finite(parameter.tensor.detach())) return parameter.name;
  for (std::size_t i = 0; i < storage.frozen().size(); ++i)
    if (has_nan(storage.frozen().tensor(i))) return storage.frozen().name(i);
  return {};
}

std::string gradient_not_finite(const GradientBuffers& gradients) {
  const ParameterStorage& storage = gradients.storage();
  for (std::size_t i = storage.parameters().size(); i-- > 0;)
    if (!is_finite(storage.view(gradients.flat(), i))) return storage.parameters()[i].name;
  return {};
}

}  // namespace lockstep
