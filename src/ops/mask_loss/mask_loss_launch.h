// Lets plain C++ code launch the kernels of a mask's losses.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_mask_loss_forward(const MaskLossForward& arguments, cudaStream_t stream);
cudaError_t launch_mask_loss_backward(const MaskLossBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
