// Reads the device's own clock in the order of a stream.
#include "ops/stamp/stamp_launch.h"

namespace lockstep {
namespace {

__global__ void stamp_kernel(double* seconds) {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  *seconds = 1e-9 * static_cast<double>(ns);
}

}  // namespace

cudaError_t launch_stamp(double* seconds, cudaStream_t stream) {
  stamp_kernel<<<1, 1, 0, stream>>>(seconds);
  return cudaGetLastError();
}

}  // namespace lockstep
