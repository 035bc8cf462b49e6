// The kernel of a convolution of 1 x 1 that tells batch norm of its result as plain C++ sees it.
#pragma once

#include "kernels/block_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Whether the current device has what it needs: compute capability 8.0, code for it, memory.
bool pointwise_moments_runs_here();

// Enqueues; neither synchronises nor allocates. Sums are added up in a fixed order.
cudaError_t launch_pointwise_moments(const PointwiseMoments& arguments, cudaStream_t stream);

}  // namespace lockstep
