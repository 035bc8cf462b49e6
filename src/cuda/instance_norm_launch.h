// The kernels of instance norm as plain C++ sees them.
#pragma once

#include "kernels/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueue; neither synchronise nor allocate. Sums are added up in a fixed order.
cudaError_t launch_instance_norm_forward(const InstanceNormForward& arguments, cudaStream_t stream);
cudaError_t launch_instance_norm_backward(const InstanceNormBackward& arguments,
                                          cudaStream_t stream);

}  // namespace lockstep
