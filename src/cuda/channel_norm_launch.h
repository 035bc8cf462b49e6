// The kernels of instance norm and batch norm as plain C++ sees them.
#pragma once

#include "kernels/voxel_arguments.h"

#include <cuda_runtime_api.h>

#include <optional>

namespace lockstep {

// Enqueue; neither synchronise nor allocate. Sums are added up in a fixed order.
cudaError_t launch_channel_norm_forward(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_channel_norm_backward(const ChannelNormBackward& arguments, cudaStream_t stream);

// The same in one launch, x being read once, where a cluster of thread blocks can keep all voxels
// of some channels: batch norm by its own statistics, channels a multiple of 16, few enough voxels,
// on devices of compute capability 9.0 and newer. Nothing where that is not so.
std::optional<cudaError_t> launch_on_chip(const ChannelNormForward& arguments, cudaStream_t stream);
std::optional<cudaError_t> launch_on_chip(const ChannelNormBackward& arguments,
                                          cudaStream_t stream);

}  // namespace lockstep
