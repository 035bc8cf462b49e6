// Attention with cuDNN's graph API.
#pragma once

#include "ops/attention/attention.h"

namespace lockstep {

// The attention functions of this build and this GPU. They are empty if ATen's attention serves
// better, or if cuDNN's headers were missing at build time.
AttentionKernels attention_kernels();

}  // namespace lockstep
