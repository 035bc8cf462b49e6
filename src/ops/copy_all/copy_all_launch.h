// Lets plain C++ code launch the kernel of ops/copy_all/copy_all.h.
#pragma once

#include "ops/copy_all/copy_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The function only enqueues work. It neither synchronises nor allocates.
cudaError_t launch_copies(const CopyLaunch& launch, cudaStream_t stream);

}  // namespace lockstep
