// Computes attention on GPUs with cuDNN's graph API.
#pragma once

#include "ops/attention/attention.h"

namespace lockstep {

// Returns functions that call cuDNN, on GPUs of compute capability 9.x and 10.x. On other GPUs they
// are null, because ATen's attention is faster there. They are also null if cuDNN's headers were
// missing at build time.
AttentionKernels attention_kernels();

}  // namespace lockstep
