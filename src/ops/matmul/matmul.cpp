// Hands products to the device's library where that serves them, and to ATen otherwise.
#include "ops/matmul/matmul.h"

#include "core/base/check.h"
#include "ops/shared/own_kernels.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include <atomic>

namespace lockstep {
namespace {

std::atomic<MatmulKernel> cuda_matmul = nullptr;
std::atomic<bool> tuning = true;

bool dense(const at::Tensor& matrix) { return matrix.is_contiguous() && aligned(matrix); }

// Low precision only: ATen decides whether fp32 products may be rounded to TF32.
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

void set_matmul_tuning(bool tune) { tuning = tune; }
bool matmul_tuning() { return tuning; }

void register_cuda_matmul(MatmulKernel kernel) { cuda_matmul = kernel; }

}  // namespace lockstep
