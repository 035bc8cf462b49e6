// Matrix products into given memory, each with the fastest algorithm of the device.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Computes out [m, n] = left [m, k] times right [k, n], plus bias [n] if defined. With
// `accumulate`, which allows no bias, it adds the product to `out`. left, right and bias have one
// dtype. out has the same dtype, or without a bias also f32. out is contiguous. left and right may
// be transposes of contiguous matrices. Not differentiable.
void matmul_into(at::Tensor out, const at::Tensor& left, const at::Tensor& right,
                 const at::Tensor& bias = {}, bool accumulate = false);

// Computes out = addend + left times right. addend: in out's shape and type, contiguous, on the
// same device; may be out itself. The other rules are those of matmul_into without a bias.
void matmul_plus(at::Tensor out, const at::Tensor& addend, const at::Tensor& left,
                 const at::Tensor& right);

// Computes `batch` products at once: out = alpha left right + beta addend. out and addend: [batch,
// m, n]. left: [batch, m, k]. right: [batch, k, n]. All have one low-precision dtype. Each matrix
// is dense, with any distance to the next one. This distance is the same for addend and out. left
// and right may be transposes of such matrices. addend shares no memory with out. If addend is
// undefined, nothing is added. Not differentiable.
struct BatchedAddend {
  at::Tensor addend;
  double beta = 1;
};
void matmul_batch(at::Tensor out, const at::Tensor& left, const at::Tensor& right, double alpha = 1,
                  const BatchedAddend& plus = {});

// On GPUs: with `tune` (true at start), the second product of a shape tries the library's
// algorithms and keeps the fastest. Otherwise it uses the algorithm that the library proposes. With
// `tune`, two runs may choose different algorithms and then round differently. Nothing is tried
// while ATen must be deterministic.
void set_matmul_tuning(bool tune);
bool matmul_tuning();

// Runs on the current stream. False: this product is not supported, and nothing was done.
using MatmulKernel = bool (*)(const MatmulArguments&);
void register_cuda_matmul(MatmulKernel kernel);

}  // namespace lockstep
