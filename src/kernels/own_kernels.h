// What the dispatching sources share.
#pragma once

#include "kernels/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <optional>

namespace lockstep {

// autograd's custom functions take absent tensors as nothing, not as undefined ones.
inline std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// Nothing for types that our kernels do not serve.
inline std::optional<KernelDtype> kernel_dtype(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return KernelDtype::f32;
    case at::kBFloat16:
      return KernelDtype::bf16;
    case at::kHalf:
      return KernelDtype::f16;
    default:
      return std::nullopt;
  }
}

}  // namespace lockstep
