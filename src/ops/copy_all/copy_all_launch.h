// Launches the kernel of ops/copy_all/copy_all.h from plain C++.
#pragma once

#include "ops/copy_all/copy_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// It only enqueues, and neither synchronises nor allocates.
cudaError_t launch_copies(const CopyLaunch& launch, cudaStream_t stream);

}  // namespace lockstep
