// Launches of kernels that begin while the previous kernel on the stream is still ending
// ("programmatic dependent launch"). They need compute capability 9.0 or later. Their blocks occupy
// multiprocessors that become free, and wait there. On older devices a kernel begins after the
// previous one, as usual.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace lockstep {

// Call it in the kernel before reading or writing anything that other kernels use. All earlier work
// on the stream is then complete and visible.
__device__ inline void wait_for_those_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Call it in the kernel. The next kernel may begin once all blocks have called it.
__device__ inline void let_the_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Whether the kernel runs here as code for 9.0 or later, so that the two functions above have an
// effect.
inline bool is_for_hopper(const void* kernel) {
  cudaFuncAttributes compiled{};
  return cudaFuncGetAttributes(&compiled, kernel) == cudaSuccess && compiled.ptxVersion >= 90;
}

// The same as is_for_hopper(), queried once for each device. All our kernels are compiled for the
// same architectures, so one kernel's answer holds for all.
inline bool begins_early(const void* kernel) {
  constexpr int most_devices = 64;
  enum : signed char { unknown, no, yes };
  static std::array<std::atomic<signed char>, most_devices> known{};
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= most_devices) return false;
  std::atomic<signed char>& here = known[static_cast<std::size_t>(device)];
  if (here == unknown) here = is_for_hopper(kernel) ? yes : no;
  return here == yes;
}

// Launches a kernel that calls wait_for_those_before().
template <class... Parameters, class... Arguments>
cudaError_t launch_early(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                         cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = begins_early(reinterpret_cast<const void*>(kernel)) ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace lockstep
