// Lets plain C++ code launch the kernels that match anchors or regions with true boxes.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_match(const MatchArguments& arguments, cudaStream_t stream);
cudaError_t launch_match_regions(const RegionMatchArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
