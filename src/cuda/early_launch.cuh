// A kernel that begins while the one before it on its stream still ends ("programmatic dependent
// launch"), from compute capability 9.0 on: its blocks take the processors that become free, and
// wait there. Elsewhere it begins after it, as any kernel.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace lockstep {

// In the kernel, before it reads or writes anything that others do: all before it on the stream is
// done then, and seen.
__device__ inline void wait_for_those_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// In the kernel: the next one may begin once all blocks have come here.
__device__ inline void let_the_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Whether it runs here as code for 9.0 or later, so that the two functions above do something.
inline bool is_for_hopper(const void* kernel) {
  cudaFuncAttributes compiled{};
  return cudaFuncGetAttributes(&compiled, kernel) == cudaSuccess && compiled.ptxVersion >= 90;
}

// The same, asked once on each device: all our kernels are compiled for the same ones.
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

// The kernel must call wait_for_those_before().
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
