// The kernels of a mask's losses as plain C++ sees them.
#pragma once

#include "kernels/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueue; neither synchronise nor allocate. Sums are added up in a fixed order.
cudaError_t launch_mask_loss_forward(const MaskLossForward& arguments, cudaStream_t stream);
cudaError_t launch_mask_loss_backward(const MaskLossBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
