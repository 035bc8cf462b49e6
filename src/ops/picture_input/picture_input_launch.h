// Launches the kernels that turn pictures into a network's input from plain C++.
#pragma once

#include "ops/picture_input/picture_inline.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// It only enqueues, and neither synchronises nor allocates.
cudaError_t launch_picture_input(const PictureArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
