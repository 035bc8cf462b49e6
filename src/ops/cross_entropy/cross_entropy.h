// Cross-entropy fused with its gradient and with the matrix product before it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// The sum over rows of -log softmax(hidden weight^T)[target], 0-dim f32; rows whose target is
// negative do not count. hidden [N, D], weight [V, D], both f32|bf16|f16; targets i64 [N] < V, else
// Error on the CPU, a device-side assertion on GPUs.
//
// scale: f32 0-dim, what the gradient of the result will be multiplied by in backward. Because it
// is known, gradients are made at once, in pieces of the rows, and the logits of all rows never
// exist together: at most `piece_bytes` of them. The incoming gradient is taken to be `scale`, and
// a weight's gradient that has a buffer is there before backward. So backward throws Error for a
// second derivative, and where it adds up no gradient of the weight (torch::autograd::grad).
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                const at::Tensor& targets, const at::Tensor& scale,
                                std::int64_t piece_bytes = std::int64_t{1} << 30);

// Overwrites logits [N, V] with scale times the gradient of the summed loss, and returns the losses
// of the rows, f32 [N]. Computes in f32.
at::Tensor cross_entropy_in_place(const at::Tensor& logits, const at::Tensor& targets,
                                  const at::Tensor& scale);
// The same with ATen operators, on any device, f64 too.
at::Tensor cross_entropy_reference(const at::Tensor& logits, const at::Tensor& targets,
                                   const at::Tensor& scale);

using CrossEntropyKernel = void (*)(const CrossEntropyArguments&);  // on the current stream
void register_cuda_cross_entropy(CrossEntropyKernel kernel);

}  // namespace lockstep
