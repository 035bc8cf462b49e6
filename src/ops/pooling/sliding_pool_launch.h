// Lets plain C++ code launch the kernels of max pooling over windows that may overlap.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_sliding_pool_forward(const SlidingPoolForward& arguments, cudaStream_t stream);
cudaError_t launch_sliding_pool_backward(const SlidingPoolBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
