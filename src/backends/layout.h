// Tensors whose elements lie one behind the other, in whatever order of the dimensions: contiguous
// ones, and those in channels-last and other permuted layouts.
#pragma once

#include "backends/backend.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// The tensor's own strides where it is dense (without holes or overlaps), else those of a
// contiguous one of its shape.
std::vector<std::int64_t> dense_strides(const at::Tensor& tensor);

// A view of `row` [n] with these sizes, which have n elements, and dense strides.
at::Tensor view_as(const at::Tensor& row, at::IntArrayRef sizes, at::IntArrayRef strides);

// A dense tensor's elements as they lie in memory, [n]: a view. Any other is made contiguous first.
at::Tensor memory_order(const at::Tensor& tensor);

// A copy of a CPU tensor in memory from which uploads are fast (Backend::host_empty), with the
// tensor's strides where it is dense. The tensor itself where it lies in such memory already.
at::Tensor pinned_copy(Backend& backend, const at::Tensor& tensor);

}  // namespace lockstep
