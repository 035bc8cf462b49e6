// Computes linear heads that read few rows of a network's output, such as the row of each text's
// first token.
#pragma once

#include "ops/shared/head_arguments.h"

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// Returns hidden[rows] times weight^T, plus bias if defined: [S, O] in hidden's dtype.
//   hidden   [N, D], floating
//   rows     i64 [S], each below N, possibly with repetitions
//   weight   [O, D]
//   bias     [O], or undefined
// If weight and bias have gradient buffers (gradient_buffer.h), their gradients are added there.
// For up to head_most_outputs outputs and head_most_rows rows, GPUs need one launch in forward and
// two in backward. For larger sizes, and on the CPU, the rows are copied and linear_layer is
// called.
//
// The result is differentiable in all arguments but rows, and second derivatives use ATen's
// operators. Throws Error for other shapes and dtypes. An element of `rows` outside of [0, N) is an
// error on the CPU, and fails a device-side assertion on GPUs.
at::Tensor linear_of_rows(const at::Tensor& hidden, const at::Tensor& rows,
                          const at::Tensor& weight, const at::Tensor& bias = {});

// Computes linear_of_rows, and also returns `hidden` as the second result. Other operations that
// need `hidden` should read the second result. Our kernel for the gradient of `hidden` then also
// adds the gradients from these operations.
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
