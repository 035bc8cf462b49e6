// Describes a tensor for kernels over images and volumes.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns `tensor` or a copy, dense in this layout and aligned to 16 bytes.
at::Tensor lying_densely(const at::Tensor& tensor, at::MemoryFormat format);

// The channels-last format of x's dimensions, 4 or 5.
at::MemoryFormat channels_last_format(const at::Tensor& x);

// x: not empty, dense in the layout that it suggests, in a type that our kernels support.
VoxelLayout voxel_layout(const at::Tensor& x);
// The same, but x is dense in its channels-last format, even if it also has another layout.
VoxelLayout channels_last_layout(const at::Tensor& x);
// The same, with all rows taken as one, for statistics of a batch.
VoxelLayout whole_batch_layout(const at::Tensor& x);

}  // namespace lockstep
