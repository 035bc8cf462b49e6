// Launches the kernel of ops/column_sums/column_sums.h from plain C++.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// It only enqueues, and neither synchronises nor allocates. So it can be captured into a graph.
cudaError_t launch_column_sums(const ColumnSums& sums, cudaStream_t stream);

}  // namespace lockstep
