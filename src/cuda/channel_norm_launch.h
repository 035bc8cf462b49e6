// The kernels of instance norm and batch norm as plain C++ sees them.
#pragma once

#include "kernels/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueue; neither synchronise nor allocate. Sums are added up in a fixed order.
cudaError_t launch_channel_norm_forward(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_channel_norm_backward(const ChannelNormBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
