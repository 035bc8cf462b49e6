// Lets plain C++ code launch the kernel of a 1 x 1 convolution. The kernel also computes the
// moments of the result, for batch norm.
#pragma once

#include "ops/block_convolution/block_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Whether the kernel runs on the current device. It needs compute capability 8.0 or newer, code for
// it in this library, and enough shared memory.
bool pointwise_moments_runs_here();

// The function only enqueues work. It neither synchronises nor allocates. The kernel adds up sums
// in a fixed order.
cudaError_t launch_pointwise_moments(const PointwiseMoments& arguments, cudaStream_t stream);

}  // namespace lockstep
