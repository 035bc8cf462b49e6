// Lets plain C++ code launch the RoIAlign kernels.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_roi_align_forward(const RoiAlignForward& launch, cudaStream_t stream);
cudaError_t launch_roi_align_backward(const RoiAlignBackward& launch, cudaStream_t stream);

}  // namespace lockstep
