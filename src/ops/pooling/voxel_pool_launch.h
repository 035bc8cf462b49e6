// Launches the kernels of the mean and the maximum over voxels from plain C++.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_voxel_pool_forward(const VoxelPoolForward& arguments, cudaStream_t stream);
cudaError_t launch_voxel_pool_backward(const VoxelPoolBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
