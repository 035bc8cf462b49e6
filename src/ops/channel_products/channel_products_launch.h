// Launches the kernels that multiply maps by factors per channel from plain C++.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate.
cudaError_t launch_channel_products_forward(const ChannelProducts& arguments, cudaStream_t stream);
cudaError_t launch_channel_products_backward(const ChannelProducts& arguments, cudaStream_t stream);

}  // namespace lockstep
