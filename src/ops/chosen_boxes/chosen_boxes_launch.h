// Lets plain C++ code launch the kernels that decode, gather and flip boxes.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_decode_chosen(const DecodeChosen& arguments, cudaStream_t stream);
cudaError_t launch_gather_boxes(const GatherBoxes& arguments, cudaStream_t stream);
cudaError_t launch_flip_boxes(const FlipBoxes& arguments, cudaStream_t stream);

}  // namespace lockstep
