// Launches the kernels of a first convolution over blocks of pixels from plain C++.
#pragma once

#include "ops/block_convolution/block_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Whether the current device meets the kernels' needs: compute capability 8.0, code for it, and 89
// KiB of shared memory per block.
bool block_convolution_runs_here();

// They only enqueue, and neither synchronise nor allocate. Sums are accumulated in a fixed order.
cudaError_t launch_block_convolution_forward(const BlockConvolutionForward& arguments,
                                             cudaStream_t stream);
cudaError_t launch_block_convolution_backward(const BlockConvolutionBackward& arguments,
                                              cudaStream_t stream);

}  // namespace lockstep
