// Launches the kernels of non-maximum suppression from plain C++.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate.
cudaError_t launch_nms_overlaps(const NmsArguments& arguments, cudaStream_t stream);
cudaError_t launch_nms_keep(const NmsArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
