// Attention through cuDNN's graphs.
#pragma once

#include "kernels/attention.h"

namespace lockstep {

// What this build and this GPU have; without functions where ATen's attention serves better or
// cuDNN's headers were not there at build time.
AttentionKernels attention_kernels();

}  // namespace lockstep
