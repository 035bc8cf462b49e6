// Helpers for dense tensors: their elements fill memory without holes or overlaps, in any order of
// dimensions. Contiguous and channels-last tensors are dense.
#pragma once

#include "backends/backend.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Returns the strides of the tensor if it is dense, else those of a contiguous tensor of its shape.
std::vector<std::int64_t> dense_strides(const at::Tensor& tensor);

// Returns a view of `row` [n] with these sizes and strides. The sizes have n elements, and the
// strides are dense.
at::Tensor view_as(const at::Tensor& row, at::IntArrayRef sizes, at::IntArrayRef strides);

// Returns the tensor's elements in the order of memory, [n]. The result is a view if the tensor is
// dense, else a contiguous copy.
at::Tensor memory_order(const at::Tensor& tensor);

// Returns a copy of a CPU tensor in memory that uploads fast (Backend::host_empty). The copy has
// the tensor's strides if the tensor is dense. Returns the tensor itself if it is in such memory,
// or if the backend is the CPU.
at::Tensor pinned_copy(Backend& backend, const at::Tensor& tensor);

}  // namespace lockstep
