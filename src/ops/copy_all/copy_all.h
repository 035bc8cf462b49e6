// Copies several tensors at once. On GPUs one launch copies up to 32 tensors.
#pragma once

#include "ops/copy_all/copy_arguments.h"

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace lockstep {

// Copies the second tensor of each pair to the first one. The two tensors of a pair have the same
// shape. Runs on the current stream. Our kernel copies between tensors of the same dtype, from bf16
// or f16 to f32, and from f32 to bf16. It needs both tensors on one GPU, dense and with the same
// strides. ATen copies all other pairs, one by one.
using Copies = std::vector<std::pair<at::Tensor, at::Tensor>>;
void copy_all(const Copies& copies);

using CopyKernel = void (*)(const CopyLaunch&);  // runs on the current stream
void register_cuda_copy(CopyKernel kernel);

}  // namespace lockstep
