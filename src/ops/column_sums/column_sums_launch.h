// Lets plain C++ code launch the kernel of ops/column_sums/column_sums.h.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The function only enqueues work, so it can be captured into a graph. It neither synchronises nor
// allocates.
cudaError_t launch_column_sums(const ColumnSums& sums, cudaStream_t stream);

}  // namespace lockstep
