// Indices of tables, looked at before they are used.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace lockstep {

// Throws Error unless all of indices, i64, are in [first, end). name: of them, in the plural.
// On the CPU only: elsewhere looking would wait for the device, and the kernels stop at such an
// index themselves.
void check_indices(const at::Tensor& indices, std::int64_t first, std::int64_t end,
                   const std::string& name);

}  // namespace lockstep
