// Lets plain C++ code launch the kernels of a detector's losses.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_detection_loss_forward(const DetectionLossForward& launch, cudaStream_t stream);
cudaError_t launch_detection_loss_backward(const DetectionLossBackward& launch,
                                           cudaStream_t stream);

}  // namespace lockstep
