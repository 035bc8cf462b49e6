// Heads that read few rows of what a network gives, as those of each text's first token.
#pragma once

#include "ops/shared/head_arguments.h"

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep {

// hidden[rows] times weight^T, plus bias [O] if it is defined: [S, O] of hidden's dtype. hidden [N,
// D]; rows i64 [S], each below N, some perhaps twice; weight [O, D]. Gradients of weight and bias
// go into gradient buffers. For up to `head_most_outputs` outputs and `head_most_rows` rows GPUs
// need one launch forward, and one for each gradient backward; for more it is a selection of rows
// and linear_layer. Differentiable in all but rows, twice by way of ATen. Throws Error for other
// shapes and types; a row that is not there is an error on the CPU, and stops a GPU.
at::Tensor linear_of_rows(const at::Tensor& hidden, const at::Tensor& rows,
                          const at::Tensor& weight, const at::Tensor& bias = {});

// The same, and hidden for what else reads it, whose gradient is then added in the same pass.
std::tuple<at::Tensor, at::Tensor> linear_of_rows_beside(const at::Tensor& hidden,
                                                         const at::Tensor& rows,
                                                         const at::Tensor& weight,
                                                         const at::Tensor& bias = {});

struct HeadKernels {
  void (*forward)(const HeadForward&) = nullptr;  // on the current stream
  void (*of_hidden)(const HeadBackward&) = nullptr;
  void (*of_weight)(const HeadBackward&) = nullptr;
};
void register_cuda_heads(HeadKernels kernels);

}  // namespace lockstep
