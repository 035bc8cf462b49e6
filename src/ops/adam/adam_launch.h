// Lets plain C++ code launch the Adam kernels.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_adam_factors(const AdamArguments& arguments, cudaStream_t stream);
cudaError_t launch_adam(const AdamArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
