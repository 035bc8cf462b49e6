// Which of our own kernels this library brings.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// Hands every kernel to the engine, if they run on this GPU. False where they do not, or where
// there was no CUDA compiler at build time: then the ATen references serve. The device must be
// usable.
bool register_kernels();

// As Backend::stamp, where register_kernels() gave true.
void stamp_device_time(const at::Tensor& slot);

}  // namespace lockstep
