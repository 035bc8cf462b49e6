// Offers products to the device's library, and gives those that it does not support to ATen.
#include "ops/matmul/matmul.h"

#include "core/base/check.h"
#include "ops/shared/own_kernels.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include <atomic>

namespace lockstep {
namespace {

std::atomic<MatmulKernel> cuda_matmul = nullptr;
std::atomic<bool> tuning = true;

bool dense(const at::Tensor& matrix) { return matrix.is_contiguous() && aligned(matrix); }

// Offers only low-precision products. For fp32, ATen decides whether to round to TF32.
bool offer_to_kernel(const at::Tensor& out, const at::Tensor& left, const at::Tensor& right,
                     const at::Tensor& bias, bool accumulate, const at::Tensor& addend = {}) {
  const MatmulKernel kernel = cuda_matmul;
  const auto dtype = kernel_dtype(left.scalar_type());
  if (kernel == nullptr || !left.is_cuda() || !dtype || *dtype == KernelDtype::f32) return false;
  if (out.numel() == 0 || left.numel() == 0 || !dense(out) || !aligned(bias) || !aligned(addend))
    return false;
  const bool left_transposed = !left.is_contiguous(), right_transposed = !right.is_contiguous();
  if (!dense(left_transposed ? left.t() : left) || !dense(right_transposed ? right.t() : right))
    return false;
  return kernel({.left = left.const_data_ptr(),
                 .right = right.const_data_ptr(),
                 .bias = data_of(bias),
                 .addend = data_of(addend),
                 .out = out.mutable_data_ptr(),
                 .dtype = *dtype,
                 .out_is_f32 = out.scalar_type() == at::kFloat,
                 .left_transposed = left_transposed,
                 .right_transposed = right_transposed,
                 .accumulate = accumulate,
                 .m = out.size(0),
                 .n = out.size(1),
                 .k = left.size(1)});
}

// Whether each matrix of [batch, rows, columns] is dense and has the same alignment. transposed:
// the same for the transposes of the matrices.
bool dense_matrices(const at::Tensor& batch, bool transposed = false) {
  const int row = transposed ? 2 : 1, column = transposed ? 1 : 2;
  return batch.stride(column) == 1 && batch.stride(row) == batch.size(column) && aligned(batch) &&
         batch.stride(0) * batch.element_size() % 256 == 0;
}

bool offer_batch_to_kernel(const at::Tensor& out, const at::Tensor& left, const at::Tensor& right,
                           double alpha, const BatchedAddend& plus) {
  const MatmulKernel kernel = cuda_matmul;
  const auto dtype = kernel_dtype(left.scalar_type());
  if (kernel == nullptr || !left.is_cuda() || !dtype || *dtype == KernelDtype::f32) return false;
  if (out.numel() == 0 || left.numel() == 0 || !dense_matrices(out) || !aligned(plus.addend))
    return false;
  const bool left_transposed = !dense_matrices(left), right_transposed = !dense_matrices(right);
  if (!dense_matrices(left, left_transposed) || !dense_matrices(right, right_transposed))
    return false;
  return kernel({.left = left.const_data_ptr(),
                 .right = right.const_data_ptr(),
                 .addend = data_of(plus.addend),
                 .out = out.mutable_data_ptr(),
                 .dtype = *dtype,
                 .left_transposed = left_transposed,
                 .right_transposed = right_transposed,
                 .accumulate = plus.addend.defined(),
                 .m = out.size(1),
                 .n = out.size(2),
                 .k = left.size(2),
                 .batch = out.size(0),
                 .left_stride = left.stride(0),
                 .right_stride = right.stride(0),
                 .out_stride = out.stride(0),
                 .alpha = static_cast<float>(alpha),
                 .beta = static_cast<float>(plus.beta)});
}

void accumulate_by_aten(at::Tensor& out, const at::Tensor& left, const at::Tensor& right) {
  if (left.scalar_type() == out.scalar_type())
    at::addmm_out(out, out, left, right);
  else if (left.is_cuda())
    at::addmm_out(out, out, left, right, at::kFloat);  // low precision in, f32 out
  else
    out.add_(left.mm(right));
}

}  // namespace

void matmul_into(at::Tensor out, const at::Tensor& left, const at::Tensor& right,
                 const at::Tensor& bias, bool accumulate) {
  LOCKSTEP_CHECK(left.dim() == 2 && right.dim() == 2 && left.size(1) == right.size(0));
  LOCKSTEP_CHECK(out.dim() == 2 && out.size(0) == left.size(0) && out.size(1) == right.size(1));
  LOCKSTEP_CHECK(out.is_contiguous() && left.scalar_type() == right.scalar_type());
  LOCKSTEP_CHECK(out.scalar_type() == left.scalar_type() || out.scalar_type() == at::kFloat);
  LOCKSTEP_CHECK(!bias.defined() || (!accumulate && bias.scalar_type() == left.scalar_type()));
  if (offer_to_kernel(out, left, right, bias, accumulate)) return;
  const bool is_wider = out.scalar_type() != left.scalar_type();
  if (!accumulate && is_wider) out.zero_();
  if (accumulate || is_wider)
    accumulate_by_aten(out, left, right);
  else if (bias.defined())
    at::addmm_out(out, bias, left, right);
  else
    at::mm_out(out, left, right);
}

void matmul_plus(at::Tensor out, const at::Tensor& addend, const at::Tensor& left,
                 const at::Tensor& right) {
  LOCKSTEP_CHECK(addend.sizes() == out.sizes() && addend.scalar_type() == out.scalar_type());
  LOCKSTEP_CHECK(addend.is_contiguous() && out.is_contiguous());
  if (offer_to_kernel(out, left, right, {}, /*accumulate=*/true, addend)) return;
  if (!out.is_same(addend)) out.copy_(addend);
  matmul_into(out, left, right, {}, /*accumulate=*/true);
}

void matmul_batch(at::Tensor out, const at::Tensor& left, const at::Tensor& right, double alpha,
                  const BatchedAddend& plus) {
  const at::Tensor& addend = plus.addend;
  LOCKSTEP_CHECK(out.dim() == 3 && left.dim() == 3 && right.dim() == 3);
  LOCKSTEP_CHECK(left.size(2) == right.size(1) && out.size(1) == left.size(1) &&
                 out.size(2) == right.size(2));
  LOCKSTEP_CHECK(!addend.defined() ||
                 (addend.sizes() == out.sizes() && addend.strides() == out.strides()));
  if (offer_batch_to_kernel(out, left, right, alpha, plus)) return;
  if (addend.defined())
    at::baddbmm_out(out, addend, left, right, plus.beta, alpha);
  else if (alpha == 1)
    at::bmm_out(out, left, right);
  else
    at::baddbmm_out(out, out, left, right, 0, alpha);
}

void set_matmul_tuning(bool tune) { tuning = tune; }
bool matmul_tuning() { return tuning; }

void register_cuda_matmul(MatmulKernel kernel) { cuda_matmul = kernel; }

}  // namespace lockstep
