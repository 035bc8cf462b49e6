// Lets plain C++ code launch the kernels of spatial_gate, which apply gates per channel and per
// spatial position.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_spatial_gate_forward(const SpatialGateForward& arguments, cudaStream_t stream);
cudaError_t launch_spatial_gate_backward(const SpatialGateBackward& arguments, cudaStream_t stream);

// Each of these functions launches one part of the function above with the same arguments. The
// first function launches the convolution from `maps` to the gates. The second function launches
// the convolution from of_places to of_maps, and computes the weight's gradient.
cudaError_t launch_gate_convolution(const SpatialGateForward& arguments, cudaStream_t stream);
cudaError_t launch_gate_convolution_backward(const SpatialGateBackward& arguments,
                                             cudaStream_t stream);

}  // namespace lockstep
