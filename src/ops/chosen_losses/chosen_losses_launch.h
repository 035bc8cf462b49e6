// Launches the kernels of losses by question from plain C++.
#pragma once

#include "ops/chosen_losses/chosen_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_chosen_losses_forward(const ChosenLossForward& arguments, cudaStream_t stream);
cudaError_t launch_chosen_losses_backward(const ChosenLossBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
