// Launches the layer norm kernels from plain C++.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// They only enqueue, and neither synchronise nor allocate. The backward pass leaves the gradients
// of weight and bias as shares in `partial`. launch_layer_norm_shares reads only `partial`, and
// adds the shares up in a fixed order.
cudaError_t launch_layer_norm_forward(const LayerNormForward& arguments, cudaStream_t stream);
cudaError_t launch_layer_norm_backward(const LayerNormBackward& arguments, cudaStream_t stream);
cudaError_t launch_layer_norm_shares(const LayerNormBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
