// Heads that read few rows of a network's output, such as the row of each text's first token.
#pragma once

#include "ops/shared/head_arguments.h"

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// Returns hidden[rows] times weight^T, plus bias [O] if defined: [S, O] in hidden's dtype. hidden:
// [N, D]. rows: i64 [S], each below N, possibly with repetitions. weight: [O, D]. Gradients of
// weight and bias go into gradient buffers. For up to `head_most_outputs` outputs and
// `head_most_rows` rows, GPUs need one launch in forward, and one for each gradient in backward.
// Larger sizes use a selection of rows and linear_layer. Differentiable in all but rows, and second
// derivatives use ATen's operators. Throws Error for other shapes and types. A row that does not
// exist is an error on the CPU, and stops a GPU.
at::Tensor linear_of_rows(const at::Tensor& hidden, const at::Tensor& rows,
                          const at::Tensor& weight, const at::Tensor& bias = {});

// The same, and also returns `hidden` for its other readers. Their gradient is added in the same
// pass.
std::tuple<at::Tensor, at::Tensor> linear_of_rows_beside(const at::Tensor& hidden,
                                                         const at::Tensor& rows,
                                                         const at::Tensor& weight,
                                                         const at::Tensor& bias = {});

struct HeadKernels {
  void (*forward)(const HeadForward&) = nullptr;  // runs on the current stream
  void (*of_hidden)(const HeadBackward&) = nullptr;
  void (*of_weight)(const HeadBackward&) = nullptr;
};
void register_cuda_heads(HeadKernels kernels);

}  // namespace lockstep
