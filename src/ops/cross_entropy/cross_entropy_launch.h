// Launches the cross-entropy kernel from plain C++.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// It only enqueues, and neither synchronises nor allocates.
cudaError_t launch_cross_entropy(const CrossEntropyArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
