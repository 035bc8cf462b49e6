// The kernels that put channels together and take them apart as plain C++ sees them.
#pragma once

#include "kernels/channel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueue; neither synchronise nor allocate.
cudaError_t launch_join_channels(const CatChannels& arguments, cudaStream_t stream);
cudaError_t launch_part_channels(const CatChannels& arguments, cudaStream_t stream);

}  // namespace lockstep
