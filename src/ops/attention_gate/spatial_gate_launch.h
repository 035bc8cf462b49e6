// Launches the kernels of gates per channel and per place from plain C++.
#pragma once

#include "ops/shared/voxel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_spatial_gate_forward(const SpatialGateForward& arguments, cudaStream_t stream);
cudaError_t launch_spatial_gate_backward(const SpatialGateBackward& arguments, cudaStream_t stream);

// Parts of the functions above: the convolution from maps to gates, the convolution from of_places
// to of_maps, and the weight's gradient.
cudaError_t launch_gate_convolution(const SpatialGateForward& arguments, cudaStream_t stream);
cudaError_t launch_gate_convolution_backward(const SpatialGateBackward& arguments,
                                             cudaStream_t stream);

}  // namespace lockstep
