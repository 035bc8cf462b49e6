// The kernels that match anchors and true boxes as plain C++ sees them.
#pragma once

#include "kernels/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueues; neither synchronises nor allocates.
cudaError_t launch_match(const MatchArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
