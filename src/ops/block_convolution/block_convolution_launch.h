// Lets plain C++ code launch the kernels of a first convolution over blocks of pixels.
#pragma once

#include "ops/block_convolution/block_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Whether the kernels run on the current device. They need compute capability 8.0 or newer, code
// for it in this library, and 89 KiB of shared memory per thread block.
bool block_convolution_runs_here();

// The functions only enqueue work. They neither synchronise nor allocate. The kernels add up sums
// in a fixed order.
cudaError_t launch_block_convolution_forward(const BlockConvolutionForward& arguments,
                                             cudaStream_t stream);
cudaError_t launch_block_convolution_backward(const BlockConvolutionBackward& arguments,
                                              cudaStream_t stream);

}  // namespace lockstep
