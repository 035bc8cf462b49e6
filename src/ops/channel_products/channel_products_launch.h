// Lets plain C++ code launch the kernels that multiply feature maps by factors per channel.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_channel_products_forward(const ChannelProducts& arguments, cudaStream_t stream);
cudaError_t launch_channel_products_backward(const ChannelProducts& arguments, cudaStream_t stream);

}  // namespace lockstep
