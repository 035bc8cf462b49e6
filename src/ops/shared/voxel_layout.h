// Describes a tensor for the kernels over images and volumes (VoxelLayout).
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns `tensor` if it is dense in this format and aligned to 16 bytes, else a copy with these
// properties.
at::Tensor lying_densely(const at::Tensor& tensor, at::MemoryFormat format);

// The channels-last format for x, which has 4 or 5 dimensions.
at::MemoryFormat channels_last_format(const at::Tensor& x);

// Returns the layout of x, which is dense in the layout that x.suggest_memory_format() names. x is
// not empty and aligned to 16 bytes. Its dtype is one that our kernels support.
VoxelLayout voxel_layout(const at::Tensor& x);
// Returns the same for an x that is dense in its channels-last format. x may also be contiguous.
VoxelLayout channels_last_layout(const at::Tensor& x);
// Returns the same, but the whole batch is one row. This serves statistics over the batch.
VoxelLayout whole_batch_layout(const at::Tensor& x);

}  // namespace lockstep
