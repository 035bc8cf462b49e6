// Lets plain C++ code launch the kernels of non-maximum suppression.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_nms_overlaps(const NmsArguments& arguments, cudaStream_t stream);
cudaError_t launch_nms_keep(const NmsArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
