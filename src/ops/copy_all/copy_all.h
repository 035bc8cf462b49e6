// Several tensors copied at once: on GPUs in one launch, where each would be one of its own.
#pragma once

#include "ops/copy_all/copy_arguments.h"

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace lockstep {

// First: to; second: from, of the same shape; f32 may come from bf16 or f16, and bf16
// from f32. On the current stream.
using Copies = std::vector<std::pair<at::Tensor, at::Tensor>>;
void copy_all(const Copies& copies);

using CopyKernel = void (*)(const CopyLaunch&);  // on the current stream
void register_cuda_copy(CopyKernel kernel);

}  // namespace lockstep
