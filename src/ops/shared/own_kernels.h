// Helpers for the sources that choose between our CUDA kernels and ATen.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace lockstep {

// Returns an empty optional for an undefined tensor. Autograd's custom functions do not accept
// undefined tensors, but accept empty optionals.
inline std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// The dtype in which statistics and intermediate values of x are computed: f64 for f64, else f32.
inline at::ScalarType float_or_double(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Whether the tensor's data is aligned to 16 bytes, so that kernels can read vectors. True for an
// undefined tensor.
inline bool aligned(const at::Tensor& tensor) {
  return !tensor.defined() || reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % 16 == 0;
}
// Copies plain values to the device, where a kernel can read them. Returns a u8 tensor that holds
// their bytes.
template <class T>
at::Tensor table_on(const at::Device& device, const std::vector<T>& values) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  const at::Tensor host = at::empty({bytes}, at::kByte);
  std::memcpy(host.mutable_data_ptr(), values.data(), static_cast<std::size_t>(bytes));
  return host.to(device);
}

// Returns the data pointer, or null for an undefined tensor.
inline const void* data_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

// Returns the KernelDtype for this dtype, or an empty optional if our kernels do not support the
// dtype.
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
