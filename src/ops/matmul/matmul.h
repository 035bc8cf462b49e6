// Matrix products into a given place, each by the fastest algorithm that the device has for it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// out [m, n] = left [m, k] times right [k, n], plus bias [n] if defined; with `accumulate`, which
// takes no bias, plus what `out` holds. left, right and bias: one dtype; out: that dtype, or
// without a bias also f32. out is contiguous; left and right may be transposes of contiguous
// matrices. Not differentiable.
void matmul_into(at::Tensor out, const at::Tensor& left, const at::Tensor& right,
                 const at::Tensor& bias = {}, bool accumulate = false);

// out = addend + left times right; addend: of out's shape and type, contiguous, on the same device;
// may be out itself. Otherwise as matmul_into without a bias.
void matmul_plus(at::Tensor out, const at::Tensor& addend, const at::Tensor& left,
                 const at::Tensor& right);

// out = alpha left right + beta addend, so many products at once: out, addend [batch, m, n], left
// [batch, m, k], right [batch, k, n], all of one low-precision dtype. Each matrix is dense, with
// any distance to the next, that of addend as that of out; left and right may be transposes of
// such. addend shares no memory with out; undefined: nothing is added. Not differentiable.
struct BatchedAddend {
  at::Tensor addend;
  double beta = 1;
};
void matmul_batch(at::Tensor out, const at::Tensor& left, const at::Tensor& right, double alpha = 1,
                  const BatchedAddend& plus = {});

// On GPUs: whether the second product of a shape tries the library's algorithms and keeps the
// fastest (true at start), or takes the one that the library proposes. Two runs may choose
// differently, and then round differently. Nothing is tried while ATen is told to be
// deterministic.
void set_matmul_tuning(bool tune);
bool matmul_tuning();

// On the current stream. False: this product is not served, nothing was done.
using MatmulKernel = bool (*)(const MatmulArguments&);
void register_cuda_matmul(MatmulKernel kernel);

}  // namespace lockstep
