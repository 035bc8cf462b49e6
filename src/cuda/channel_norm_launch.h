// The kernels of instance norm and batch norm as plain C++ sees them.
#pragma once

#include "kernels/voxel_arguments.h"

#include <cuda_runtime_api.h>

#include <optional>

namespace lockstep {

// Enqueue; neither synchronise nor allocate. Sums are added up in a fixed order.
cudaError_t launch_channel_norm_forward(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_channel_norm_backward(const ChannelNormBackward& arguments, cudaStream_t stream);

// The sum of two norms, and its ReLU.
cudaError_t launch_channel_norm_pair_forward(const ChannelNormPairForward& pair,
                                             cudaStream_t stream);
cudaError_t launch_channel_norm_pair_backward(const ChannelNormPairBackward& pair,
                                              cudaStream_t stream);

// relu(norm) and the largest of its windows.
cudaError_t launch_pooled_norm_forward(const PooledNormForward& arguments, cudaStream_t stream);
cudaError_t launch_pooled_norm_backward(const PooledNormBackward& arguments, cudaStream_t stream);

// Passes that they share. Forward: means and deviations, or, where readers finish the sums
// (VoxelLayout::finished_by_readers), sums of chunks. Backward: sums of chunks, and those finished.
cudaError_t launch_channel_moments(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_sums(const ChannelNormBackward& arguments, cudaStream_t stream);
cudaError_t launch_finish_sums(const ChannelNormBackward& arguments, cudaStream_t stream);

// A single norm in one launch, x being read once, where a cluster of thread blocks can keep all
// voxels of some channels: batch norm by its own statistics, channels a multiple of 16, few enough
// voxels, on devices of compute capability 9.0 and newer. Nothing where that is not so.
std::optional<cudaError_t> launch_on_chip(const ChannelNormForward& arguments, cudaStream_t stream);
std::optional<cudaError_t> launch_on_chip(const ChannelNormBackward& arguments,
                                          cudaStream_t stream);

}  // namespace lockstep
