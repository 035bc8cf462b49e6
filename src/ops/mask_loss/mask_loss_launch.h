// Launches the kernels of a mask's losses from plain C++.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_mask_loss_forward(const MaskLossForward& arguments, cudaStream_t stream);
cudaError_t launch_mask_loss_backward(const MaskLossBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
