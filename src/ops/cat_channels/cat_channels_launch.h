// Lets plain C++ code launch the kernels that concatenate and split channels.
#pragma once

#include "ops/cat_channels/channel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_join_channels(const CatChannels& arguments, cudaStream_t stream);
cudaError_t launch_part_channels(const CatChannels& arguments, cudaStream_t stream);

}  // namespace lockstep
