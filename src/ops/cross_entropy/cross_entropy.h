// Cross-entropy fused with its gradient and with the matrix product before it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns the sum over rows of -log softmax(hidden weight^T)[target], 0-dim f32. Rows whose target
// is negative do not count. hidden: [N, D]. weight: [V, D]. Both are f32|bf16|f16. targets: i64
// [N], below V. Other targets throw Error on the CPU, and fail a device-side assertion on GPUs.
//
// scale: f32 0-dim, the gradient of the result in backward. Because it is known, forward already
// computes the gradients, for some rows at a time. So the logits of all rows never exist together.
// At most `piece_bytes` of logits exist at a time. Backward assumes that the incoming gradient is
// `scale`. If the weight has a gradient buffer, its gradient is there before backward. So backward
// throws Error for a second derivative, and if it does not accumulate the gradient of the weight
// (torch::autograd::grad).
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                const at::Tensor& targets, const at::Tensor& scale,
                                std::int64_t piece_bytes = std::int64_t{1} << 30);

// Overwrites logits [N, V] with scale times the gradient of the summed loss, and returns the losses
// of the rows, f32 [N]. Computes in f32.
at::Tensor cross_entropy_in_place(const at::Tensor& logits, const at::Tensor& targets,
                                  const at::Tensor& scale);
// The same with ATen's operators, on any device, also in f64.
at::Tensor cross_entropy_reference(const at::Tensor& logits, const at::Tensor& targets,
                                   const at::Tensor& scale);

using CrossEntropyKernel = void (*)(const CrossEntropyArguments&);  // runs on the current stream
void register_cuda_cross_entropy(CrossEntropyKernel kernel);

}  // namespace lockstep
