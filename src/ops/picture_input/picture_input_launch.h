// Lets plain C++ code launch the kernels that turn pictures into a network's input.
#pragma once

#include "ops/picture_input/picture_inline.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The function only enqueues work. It neither synchronises nor allocates.
cudaError_t launch_picture_input(const PictureArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
