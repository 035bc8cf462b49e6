// The kernel of kernels/copy_all.h as plain C++ sees it.
#pragma once

#include "kernels/copy_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueues; neither synchronises nor allocates.
cudaError_t launch_copies(const CopyLaunch& launch, cudaStream_t stream);

}  // namespace lockstep
