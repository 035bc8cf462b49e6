// Launches the clock kernel from plain C++.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// seconds: on the device. It gets the time of the GPU's global timer, with a resolution of about 1
// us. The function only enqueues.
cudaError_t launch_stamp(double* seconds, cudaStream_t stream);

}  // namespace lockstep
