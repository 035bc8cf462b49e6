// Dense tensors, whose elements are adjacent in memory in any order of dimensions: contiguous ones,
// and those in channels-last and other permuted layouts.
#pragma once

#include "backends/backend.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Returns the tensor's own strides if it is dense (without holes or overlaps). Otherwise returns
// those of a contiguous tensor of its shape.
std::vector<std::int64_t> dense_strides(const at::Tensor& tensor);

// Returns a view of `row` [n] with these sizes, which have n elements, and these strides, which are
// dense.
at::Tensor view_as(const at::Tensor& row, at::IntArrayRef sizes, at::IntArrayRef strides);

// Returns a view [n] of a dense tensor's elements in memory order. Other tensors are made
// contiguous first.
at::Tensor memory_order(const at::Tensor& tensor);

// Returns a copy of a CPU tensor in memory that uploads fast (Backend::host_empty), with the
// tensor's strides if it is dense. Returns the tensor itself if it is already in such memory.
at::Tensor pinned_copy(Backend& backend, const at::Tensor& tensor);

}  // namespace lockstep
