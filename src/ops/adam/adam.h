// The fused Adam update by our own kernels.
#pragma once

#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// Both run on the current stream. Call `factors` for all ranges first, then `update` for the
// chunks.
struct AdamKernels {
  void (*factors)(const AdamArguments&) = nullptr;
  void (*update)(const AdamArguments&) = nullptr;
};
// Returns null functions on the CPU and in builds without our kernels. ATen's fused optimizers are
// used there.
const AdamKernels& cuda_adam();
void register_cuda_adam(const AdamKernels& kernels);

}  // namespace lockstep
