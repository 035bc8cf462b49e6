// Checks indices of tables before they are used.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace lockstep {

// Throws Error unless all of indices, i64, are in [first, end). name: the name of the indices in
// the message, in the plural. Checks on the CPU only. Elsewhere a check would wait for the device,
// and the kernels stop at such an index themselves.
void check_indices(const at::Tensor& indices, std::int64_t first, std::int64_t end,
                   const std::string& name);

// offsets: i32|i64 [B + 1] of B concatenated rows. Throws Error unless they begin at 0, never
// decrease and end at `items` at most. Checks values on the CPU only. name: the name of the rows in
// the message.
void check_offsets(const at::Tensor& offsets, std::int64_t items, const std::string& name);

}  // namespace lockstep
