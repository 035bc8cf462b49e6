// Holds the registered kernels.
#include "ops/adam/adam.h"

namespace lockstep {
namespace {

AdamKernels kernels_in_use;  // set once, before the first step

}  // namespace

const AdamKernels& cuda_adam() { return kernels_in_use; }
void register_cuda_adam(const AdamKernels& kernels) { kernels_in_use = kernels; }

}  // namespace lockstep
