// Lets plain C++ code launch the kernels of linear heads over few rows.
#pragma once

#include "ops/shared/head_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_head_forward(const HeadForward& arguments, cudaStream_t stream);
cudaError_t launch_head_of_hidden(const HeadBackward& arguments, cudaStream_t stream);
cudaError_t launch_head_of_weight(const HeadBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
