// Lets plain C++ code launch the kernels of instance norm and batch norm.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

#include <optional>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_channel_norm_forward(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_channel_norm_backward(const ChannelNormBackward& arguments, cudaStream_t stream);

// These functions compute the sum of two norms, and the ReLU of the sum if `relu` is true.
cudaError_t launch_channel_norm_pair_forward(const ChannelNormPairForward& pair,
                                             cudaStream_t stream);
cudaError_t launch_channel_norm_pair_backward(const ChannelNormPairBackward& pair,
                                              cudaStream_t stream);

// These functions compute relu(norm), and max pooling of the result.
cudaError_t launch_pooled_norm_forward(const PooledNormForward& arguments, cudaStream_t stream);
cudaError_t launch_pooled_norm_backward(const PooledNormBackward& arguments, cudaStream_t stream);

// These functions launch single passes, which the functions above share. launch_channel_moments
// computes means and deviations for forward. If layout.finished_by_readers is set, it computes only
// the sums of chunks. In backward, launch_sums computes the sums of chunks, and launch_finish_sums
// adds them up.
cudaError_t launch_channel_moments(const ChannelNormForward& arguments, cudaStream_t stream);
cudaError_t launch_sums(const ChannelNormBackward& arguments, cudaStream_t stream);
cudaError_t launch_finish_sums(const ChannelNormBackward& arguments, cudaStream_t stream);

// These functions compute a single norm in one launch, which reads x once. A cluster of thread
// blocks keeps all voxels of some channels in shared memory. They launch nothing and return an
// empty optional unless all of these conditions hold:
//   - It is a batch norm by the statistics of x, on compute capability 9.0 or newer.
//   - channels is a multiple of 16, and there are enough channels for 64 thread blocks.
//   - x has at most 6 MiB, and fits into the shared memory.
std::optional<cudaError_t> launch_on_chip(const ChannelNormForward& arguments, cudaStream_t stream);
std::optional<cudaError_t> launch_on_chip(const ChannelNormBackward& arguments,
                                          cudaStream_t stream);

}  // namespace lockstep
