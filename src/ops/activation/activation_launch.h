// Lets plain C++ code launch the activation kernels.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_activation_forward(const ActivationArguments& arguments, cudaStream_t stream);
cudaError_t launch_activation_backward(const ActivationArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
