// Computes cross-entropy, fused with its gradient and with the matrix product before it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns the sum over rows of -log softmax(hidden weight^T)[target], 0-dim f32.
//   hidden        [N, D], f32|bf16|f16
//   weight        [V, D], in the dtype of hidden
//   targets       i64 [N], below V; a row with a negative target is ignored
//   scale         f32 0-dim, the gradient that the result will get in backward
//   piece_bytes   the largest number of bytes of logits in memory at a time
// A target of V or more throws Error on the CPU, and fails a device-side assertion on GPUs.
//
// Forward already computes the gradients, because `scale` is known. Forward processes some rows at
// a time, so the logits of all rows are never in memory together. Backward assumes that the
// incoming gradient is `scale`. Backward throws Error if it will itself be differentiated.
//
// If the weight has a gradient buffer (gradient_buffer.h), forward adds the weight's gradient to
// it. Backward then also throws Error if it does not accumulate the weight's gradient, as in
// torch::autograd::grad.
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                const at::Tensor& targets, const at::Tensor& scale,
                                std::int64_t piece_bytes = std::int64_t{1} << 30);

// Overwrites logits [N, V] with `scale` times the gradient of the summed loss. Returns the losses
// of the rows, f32 [N], without `scale`. targets and scale are as in linear_cross_entropy. Computes
// in f32.
at::Tensor cross_entropy_in_place(const at::Tensor& logits, const at::Tensor& targets,
                                  const at::Tensor& scale);
// Computes cross_entropy_in_place with ATen's operators, on any device. Also supports f64 logits.
at::Tensor cross_entropy_reference(const at::Tensor& logits, const at::Tensor& targets,
                                   const at::Tensor& scale);

using CrossEntropyKernel = void (*)(const CrossEntropyArguments&);  // runs on the current stream
void register_cuda_cross_entropy(CrossEntropyKernel kernel);

}  // namespace lockstep
