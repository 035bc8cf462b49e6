// Launches the kernel that finds the largest numbers of rows from plain C++.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// It only enqueues, and neither synchronises nor allocates.
cudaError_t launch_top_rows(const TopRowsArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
