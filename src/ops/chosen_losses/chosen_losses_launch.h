// Lets plain C++ code launch the kernels of losses by question.
#pragma once

#include "ops/chosen_losses/chosen_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_chosen_losses_forward(const ChosenLossForward& arguments, cudaStream_t stream);
cudaError_t launch_chosen_losses_backward(const ChosenLossBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
