// Launches from plain C++ the kernel of a 1 x 1 convolution that also computes batch norm's moments
// of its result.
#pragma once

#include "ops/block_convolution/block_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Whether the current device meets the kernel's needs: compute capability 8.0, code for it, and
// enough memory.
bool pointwise_moments_runs_here();

// It only enqueues, and neither synchronises nor allocates. Sums are accumulated in a fixed order.
cudaError_t launch_pointwise_moments(const PointwiseMoments& arguments, cudaStream_t stream);

}  // namespace lockstep
