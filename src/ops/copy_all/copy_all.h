// Copies several tensors at once. On GPUs this takes one launch instead of one per tensor.
#pragma once

#include "ops/copy_all/copy_arguments.h"

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace lockstep {

// first: the destination. second: the source, of the same shape. bf16 or f16 may be copied to f32,
// and f32 to bf16. Runs on the current stream.
using Copies = std::vector<std::pair<at::Tensor, at::Tensor>>;
void copy_all(const Copies& copies);

using CopyKernel = void (*)(const CopyLaunch&);  // runs on the current stream
void register_cuda_copy(CopyKernel kernel);

}  // namespace lockstep
