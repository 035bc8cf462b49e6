// How kernels over images and volumes see a tensor.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// tensor itself, or a copy: dense in this layout, and aligned to 16 bytes.
at::Tensor lying_densely(const at::Tensor& tensor, at::MemoryFormat format);

// The channels-last format of x's dimensions, 4 or 5.
at::MemoryFormat channels_last_format(const at::Tensor& x);

// x: not empty, lying densely in the layout that it suggests, of a type that our kernels serve.
VoxelLayout voxel_layout(const at::Tensor& x);
// x: the same, but lying in its channels-last format, whatever else that may be.
VoxelLayout channels_last_layout(const at::Tensor& x);
// The same, all rows taken as one: for statistics of a batch.
VoxelLayout whole_batch_layout(const at::Tensor& x);

}  // namespace lockstep
