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

// offsets i32|i64 [B + 1] of B rows that lie one behind the other: throws Error unless they begin
// at 0, do not fall and end at `items` at most. Values on the CPU only. name: of the rows.
void check_offsets(const at::Tensor& offsets, std::int64_t items, const std::string& name);

}  // namespace lockstep
