// The clock kernel as plain C++ sees it.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// seconds: on the device; gets the time of the GPU's global timer, about 1 us fine. Enqueues only.
cudaError_t launch_stamp(double* seconds, cudaStream_t stream);

}  // namespace lockstep
