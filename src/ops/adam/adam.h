// The fused Adam update, where our own kernel serves.
#pragma once

#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// On the current stream. First the factors of all ranges, then the chunks.
struct AdamKernels {
  void (*factors)(const AdamArguments&) = nullptr;
  void (*update)(const AdamArguments&) = nullptr;
};
// Null ones on the CPU and in builds without our kernels: ATen's fused optimizers serve there.
const AdamKernels& cuda_adam();
void register_cuda_adam(const AdamKernels& kernels);

}  // namespace lockstep
