// CUDA events through the runtime's own functions.
#include "backends/cuda/event.h"

#include <c10/cuda/CUDAException.h>

namespace lockstep {

Event::Event() { C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }

Event::~Event() { C10_CUDA_IGNORE_ERROR(cudaEventDestroy(event_)); }

void Event::record(cudaStream_t stream) { C10_CUDA_CHECK(cudaEventRecord(event_, stream)); }

void Event::make_wait(cudaStream_t stream) const {
  C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
}

bool Event::reached() const {
  const cudaError_t error = C10_CUDA_ERROR_HANDLED(cudaEventQuery(event_));
  if (error == cudaErrorNotReady) {
    // not a failure, so the error is cleared for later checks
    static_cast<void>(cudaGetLastError());
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void Event::synchronize() const { C10_CUDA_CHECK(cudaEventSynchronize(event_)); }

}  // namespace lockstep
