// Launches the kernels of instance norm and batch norm from plain C++.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

#include <optional>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_channel_norm_forward(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_channel_norm_backward(const ChannelNormBackward& arguments, cudaStream_t stream);

// Compute the sum of two norms, and its ReLU.
cudaError_t launch_channel_norm_pair_forward(const ChannelNormPairForward& pair,
                                             cudaStream_t stream);
cudaError_t launch_channel_norm_pair_backward(const ChannelNormPairBackward& pair,
                                              cudaStream_t stream);

// Compute relu(norm), and the maximum of each of its windows.
cudaError_t launch_pooled_norm_forward(const PooledNormForward& arguments, cudaStream_t stream);
cudaError_t launch_pooled_norm_backward(const PooledNormBackward& arguments, cudaStream_t stream);

// Passes that the functions above share. Forward, launch_channel_moments computes means and
// deviations, or only sums of chunks if readers finish them (VoxelLayout::finished_by_readers).
// Backward, launch_sums computes sums of chunks, and launch_finish_sums finishes them.
cudaError_t launch_channel_moments(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_sums(const ChannelNormBackward& arguments, cudaStream_t stream);
cudaError_t launch_finish_sums(const ChannelNormBackward& arguments, cudaStream_t stream);

// Compute a single norm in one launch that reads x once, if a cluster of thread blocks can keep all
// voxels of some channels. They require batch norm by its own statistics, channels a multiple of
// 16, few enough voxels, and compute capability 9.0 or newer. Otherwise they return nothing.
std::optional<cudaError_t> launch_on_chip(const ChannelNormForward& arguments, cudaStream_t stream);
std::optional<cudaError_t> launch_on_chip(const ChannelNormBackward& arguments,
                                          cudaStream_t stream);

}  // namespace lockstep
