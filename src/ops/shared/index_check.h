// Checks indices and offsets before an operation uses them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace lockstep {

// Throws Error unless all elements of indices, i64, are in [first, end). The message calls the
// indices `name`, which is a plural noun. Only indices on the CPU are checked, because a check on a
// GPU would wait for the device. On GPUs, our kernels check indices with device-side assertions.
void check_indices(const at::Tensor& indices, std::int64_t first, std::int64_t end,
                   const std::string& name);

// Checks the offsets of B concatenated rows. Throws Error unless offsets are i32|i64 [B + 1]. If
// offsets are on the CPU, also throws Error unless they begin at 0, never decrease and end at
// `items` at most. The message calls the rows `name`.
void check_offsets(const at::Tensor& offsets, std::int64_t items, const std::string& name);

}  // namespace lockstep
