// Launches the kernels of heads over few rows from plain C++.
#pragma once

#include "ops/shared/head_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_head_forward(const HeadForward& arguments, cudaStream_t stream);
cudaError_t launch_head_of_hidden(const HeadBackward& arguments, cudaStream_t stream);
cudaError_t launch_head_of_weight(const HeadBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
