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
// Gradients of weight and bias are added to their gradient buffers, if they have them. For up to
// head_most_outputs outputs and head_most_rows rows, GPUs need one launch in forward and two in
// backward. Larger sizes and the CPU select the rows and call linear_layer.
//
// The result is differentiable in all arguments but rows, and second derivatives use ATen's
// operators. Throws Error for other shapes and dtypes. A row that does not exist is an error on the
// CPU, and fails a device-side assertion on GPUs.
at::Tensor linear_of_rows(const at::Tensor& hidden, const at::Tensor& rows,
                          const at::Tensor& weight, const at::Tensor& bias = {});

// Computes the same, and also returns `hidden`. Other operations that read `hidden` should read
// this result. Our kernel for the gradient of `hidden` then also adds the gradients from these
// operations.
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
