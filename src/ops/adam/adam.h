// Gives access to our kernels for the fused Adam update.
#pragma once

#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// Both functions run on the current stream. Call `factors` for all ranges first, then `update` for
// the chunks.
struct AdamKernels {
  void (*factors)(const AdamArguments&) = nullptr;
  void (*update)(const AdamArguments&) = nullptr;
};
// Returns null functions on the CPU and in builds without our kernels. Callers then use ATen's
// fused optimizers.
const AdamKernels& cuda_adam();
void register_cuda_adam(const AdamKernels& kernels);

}  // namespace lockstep
