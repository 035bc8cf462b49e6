// Launches the kernel of ops/zero_ranges/zero_ranges.h from plain C++.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// It only enqueues, and neither synchronises nor allocates. So it can be captured into a graph.
cudaError_t launch_zero_pieces(const ZeroPieces& pieces, cudaStream_t stream);

}  // namespace lockstep
