#include "training/parameters/frozen_parameters.h"

#include <ATen/core/grad_mode.h>

#include <utility>

namespace lockstep {

FrozenParameters::FrozenParameters(std::vector<UniqueParameter> parameters, at::Device device,
                                   at::ScalarType compute_dtype) {
  const at::NoGradGuard no_grad;
  for (UniqueParameter& one : parameters) {
    const at::Tensor built = one.parameter.tensor.detach();
    const at::ScalarType dtype = built.scalar_type();
    const at::ScalarType wanted = built.is_floating_point() ? compute_dtype : dtype;
    const at::Tensor placed = built.to(device, wanted);
    for (at::Tensor& handle : one.handles) handle.set_data(placed);
    const at::Tensor& tensor = one.parameter.tensor;
    all_.push_back({.name = one.parameter.name,
                    .tensor = tensor,
                    .built = wanted == dtype ? at::Tensor() : built,
                    .dtype = dtype,
                    .version = tensor._version()});
  }
}

at::Tensor FrozenParameters::values(std::size_t i) const {
  const One& one = all_[i];
  if (one.built.defined() && one.tensor._version() == one.version) return one.built;
  return one.tensor.detach().to(one.dtype);
}

void FrozenParameters::set(std::size_t i, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  One& one = all_[i];
  if (one.built.defined()) one.built.copy_(values);
  one.tensor.copy_(values);
  one.version = one.tensor._version();
}

void FrozenParameters::forget_built() {
  for (One& one : all_) one.built.reset();
}

}  // namespace lockstep
