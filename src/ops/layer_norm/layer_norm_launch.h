// Lets plain C++ code launch the layer norm kernels.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
// launch_layer_norm_backward writes each thread block's share of the gradients of weight and bias
// to `partial`. launch_layer_norm_shares reads only `partial`, and adds up the shares in a fixed
// order.
cudaError_t launch_layer_norm_forward(const LayerNormForward& arguments, cudaStream_t stream);
cudaError_t launch_layer_norm_backward(const LayerNormBackward& arguments, cudaStream_t stream);
cudaError_t launch_layer_norm_shares(const LayerNormBackward& arguments, cudaStream_t stream);

}  // namespace lockstep
