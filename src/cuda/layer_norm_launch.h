// The layer norm kernels as plain C++ sees them.
#pragma once

#include "kernels/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueue; neither synchronise nor allocate. The backward pass leaves the gradients of weight and
// bias as shares, of which only `partial` is read then: those are added up in a fixed order.
cudaError_t launch_layer_norm_forward(const LayerNormForward& arguments, cudaStream_t stream);
cudaError_t launch_layer_norm_backward(const LayerNormBackward& arguments, cudaStream_t stream);
cudaError_t launch_layer_norm_shares(const LayerNormBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
