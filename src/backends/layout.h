// Helpers for dense tensors. The elements of a dense tensor fill a range of memory without gaps or
// overlaps, with the dimensions in any order. Contiguous and channels-last tensors are dense.
#pragma once

#include "backends/backend.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Returns the strides of the tensor if it is dense, else the strides of a contiguous tensor of the
// same shape.
std::vector<std::int64_t> dense_strides(const at::Tensor& tensor);

// Returns a view of `row` [n] with these sizes and strides. The product of the sizes must be n, and
// the strides must be dense.
at::Tensor view_as(const at::Tensor& row, at::IntArrayRef sizes, at::IntArrayRef strides);

// Returns all n elements of the tensor in the order in which they are stored in memory, [n]. The
// result is a view if the tensor is dense, else a contiguous copy.
at::Tensor memory_order(const at::Tensor& tensor);

// Returns a copy of a CPU tensor in pinned memory (Backend::host_empty). The copy has the tensor's
// strides if the tensor is dense, and is contiguous otherwise. Returns the tensor itself if it is
// already in pinned memory, or if the backend is the CPU.
at::Tensor pinned_copy(Backend& backend, const at::Tensor& tensor);

}  // namespace lockstep
