// The fused Adam update, where our own kernel serves.
#pragma once

#include "kernels/kernel_arguments.h"

namespace lockstep {

// Null on the CPU and in builds without our kernels: ATen's fused optimizers serve there.
using AdamKernel = void (*)(const AdamArguments&);  // on the current stream
AdamKernel cuda_adam();
void register_cuda_adam(AdamKernel kernel);

}  // namespace lockstep
