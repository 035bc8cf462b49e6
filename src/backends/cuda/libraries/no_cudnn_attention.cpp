// For builds without the headers of cuDNN and of its front end. ATen's attention is used.
#include "backends/cuda/libraries/cudnn_attention.h"

namespace lockstep {

AttentionKernels attention_kernels() { return {}; }

}  // namespace lockstep
