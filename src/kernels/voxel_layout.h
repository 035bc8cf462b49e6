// How kernels over images and volumes see a tensor.
#pragma once

#include "kernels/voxel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// tensor itself, or a copy: dense in this layout, and aligned to 16 bytes.
at::Tensor lying_densely(const at::Tensor& tensor, at::MemoryFormat format);

// x: not empty, lying densely in the layout that it suggests, of a type that our kernels serve.
VoxelLayout voxel_layout(const at::Tensor& x);

}  // namespace lockstep
