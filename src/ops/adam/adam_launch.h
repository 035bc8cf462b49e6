// Launches the Adam kernels from plain C++.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate.
cudaError_t launch_adam_factors(const AdamArguments& arguments, cudaStream_t stream);
cudaError_t launch_adam(const AdamArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
