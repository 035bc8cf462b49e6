// The GELU kernels as plain C++ sees them.
#pragma once

#include "kernels/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueue; neither synchronise nor allocate.
cudaError_t launch_gelu_forward(const GeluArguments& arguments, cudaStream_t stream);
cudaError_t launch_gelu_backward(const GeluArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
