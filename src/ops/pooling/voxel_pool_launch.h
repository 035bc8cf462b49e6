// Lets plain C++ code launch the kernels of the mean and the maximum over voxels.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_voxel_pool_forward(const VoxelPoolForward& arguments, cudaStream_t stream);
cudaError_t launch_voxel_pool_backward(const VoxelPoolBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
