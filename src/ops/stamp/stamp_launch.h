// Lets plain C++ code launch the kernel that reads the GPU's clock.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// Enqueues a kernel that writes the time of the GPU's global timer, in seconds, to `seconds`, [1]
// on the device. The resolution is about 1 us.
cudaError_t launch_stamp(double* seconds, cudaStream_t stream);

}  // namespace lockstep
