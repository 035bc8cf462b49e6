// Connects the CUDA kernels of this library with the operations that use them.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// Registers all kernels and returns true if they run on the current GPU. Returns false if they do
// not, or if the build had no CUDA compiler. Operations then use ATen. The GPU must be usable.
bool register_kernels();

// Implements Backend::stamp. Call it only if register_kernels() returned true.
void stamp_device_time(const at::Tensor& slot);

}  // namespace lockstep
