// Describes a tensor for the kernels over images and volumes (VoxelLayout).
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns `tensor` if it is dense in this format and aligned to 16 bytes, else a copy with these
// properties.
at::Tensor lying_densely(const at::Tensor& tensor, at::MemoryFormat format);

// Returns the channels-last memory format for x, which has 4 or 5 dimensions.
at::MemoryFormat channels_last_format(const at::Tensor& x);

// Returns the layout of x. x must be dense in the memory format that x.suggest_memory_format()
// names, not empty, and aligned to 16 bytes. Our kernels must support its dtype.
VoxelLayout voxel_layout(const at::Tensor& x);
// Returns the layout of x as a channels-last tensor. x must be dense in its channels-last format,
// but may also be contiguous.
VoxelLayout channels_last_layout(const at::Tensor& x);
// Returns channels_last_layout, but with the whole batch as one row. This is for statistics over
// the batch.
VoxelLayout whole_batch_layout(const at::Tensor& x);

}  // namespace lockstep
