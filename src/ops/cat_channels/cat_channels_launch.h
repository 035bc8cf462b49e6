// Launches the kernels that concatenate and split channels from plain C++.
#pragma once

#include "ops/cat_channels/channel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate.
cudaError_t launch_join_channels(const CatChannels& arguments, cudaStream_t stream);
cudaError_t launch_part_channels(const CatChannels& arguments, cudaStream_t stream);

}  // namespace lockstep
