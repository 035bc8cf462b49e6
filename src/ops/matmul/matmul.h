// Computes matrix products into given memory. On GPUs, products in low precision use cuBLASLt.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Computes out [m, n] = left [m, k] times right [k, n], plus bias [n] if defined. If `accumulate`
// is true, the product is added to `out`, and there must be no bias. The function is not
// differentiable.
//   left, right   have the same dtype; may be transposes of contiguous matrices
//   bias          the dtype of left, or undefined
//   out           contiguous, with the dtype of left; without a bias it may also be f32
void matmul_into(at::Tensor out, const at::Tensor& left, const at::Tensor& right,
                 const at::Tensor& bias = {}, bool accumulate = false);

// Computes out = addend + left times right. addend is contiguous, has the shape, dtype and device
// of out, and may be `out` itself. The other rules are those of matmul_into without a bias.
void matmul_plus(at::Tensor out, const at::Tensor& addend, const at::Tensor& left,
                 const at::Tensor& right);

// Computes `batch` products at once: out = alpha left right + beta addend. The function is not
// differentiable.
//   out     [batch, m, n]
//   left    [batch, m, k]
//   right   [batch, k, n]
//   addend  [batch, m, n], with the strides of out; undefined if nothing is added
// All tensors have the same dtype. Each matrix is dense, at any distance from the next matrix. left
// and right may be transposes of such matrices. addend and out do not share memory.
struct BatchedAddend {
  at::Tensor addend;
  double beta = 1;
};
void matmul_batch(at::Tensor out, const at::Tensor& left, const at::Tensor& right, double alpha = 1,
                  const BatchedAddend& plus = {});

// Sets whether products on GPUs are tuned. If `tune` is true (the default), the second product of a
// shape times the algorithms that cuBLASLt proposes, and keeps the fastest. If `tune` is false, the
// first algorithm that cuBLASLt proposes is used. With tuning, two runs may use different
// algorithms and then round differently. There is no tuning while ATen is set to be deterministic.
void set_matmul_tuning(bool tune);
bool matmul_tuning();

// Runs on the current stream. Returns false and does nothing if the kernel does not support the
// product.
using MatmulKernel = bool (*)(const MatmulArguments&);
void register_cuda_matmul(MatmulKernel kernel);

}  // namespace lockstep
