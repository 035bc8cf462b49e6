// Lets plain C++ code launch the cross-entropy kernel.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The function only enqueues work. It neither synchronises nor allocates.
cudaError_t launch_cross_entropy(const CrossEntropyArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
