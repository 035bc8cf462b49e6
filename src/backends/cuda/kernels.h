// Registers the kernels of this library.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// Registers every kernel with the engine, if they run on this GPU. Returns false if they do not, or
// if there was no CUDA compiler at build time. The ATen references are used then. The device must
// be usable.
bool register_kernels();

// Does the work of Backend::stamp. Call it only if register_kernels() returned true.
void stamp_device_time(const at::Tensor& slot);

}  // namespace lockstep
