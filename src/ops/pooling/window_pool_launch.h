// Lets plain C++ code launch the kernels of max pooling over windows that do not overlap.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_window_pool_forward(const WindowPoolForward& arguments, cudaStream_t stream);
cudaError_t launch_window_pool_backward(const WindowPoolBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
