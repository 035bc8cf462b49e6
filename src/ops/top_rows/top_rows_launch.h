// Lets plain C++ code launch the kernel that finds the largest numbers of rows.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The function only enqueues work. It neither synchronises nor allocates.
cudaError_t launch_top_rows(const TopRowsArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
