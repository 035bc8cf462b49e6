// The kernels of a first convolution over blocks of pixels as plain C++ sees them.
#pragma once

#include "kernels/block_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Whether the current device has what they need: compute capability 8.0, code for it, and 89 KiB of
// shared memory for a block.
bool block_convolution_runs_here();

// Enqueue; neither synchronise nor allocate. Sums are added up in a fixed order.
cudaError_t launch_block_convolution_forward(const BlockConvolutionForward& arguments,
                                             cudaStream_t stream);
cudaError_t launch_block_convolution_backward(const BlockConvolutionBackward& arguments,
                                              cudaStream_t stream);

}  // namespace lockstep
