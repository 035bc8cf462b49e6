// Dropout as an operation with gradients, on whichever path the device has.
#include "kernels/dropout.h"

#include "base/check.h"
#include "kernels/dropout_paths.h"

#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <atomic>

namespace lockstep {
namespace {

std::atomic<DropoutKernel> cuda_dropout = nullptr;

bool kernel_serves(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf;
}

at::Tensor dropout_kernel(DropoutKernel kernel, const at::Tensor& x, double p,
                          const at::Tensor& counters, std::int64_t layer) {
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) return y;
  kernel({.x = x.const_data_ptr(),
          .y = y.mutable_data_ptr(),
          .dtype = x.scalar_type(),
          .rows = x.size(0),
          .row_elements = x.numel() / x.size(0),
          .p = p,
          .counters = counters.const_data_ptr<std::int64_t>(),
          .layer = layer});
  return y;
}

at::Tensor without_gradient(const at::Tensor& x, double p, const at::Tensor& counters,
                            std::int64_t layer) {
  if (x.is_cpu()) return dropout_cpu(x, p, counters, layer);
  const DropoutKernel kernel = cuda_dropout;
  if (x.is_cuda() && kernel != nullptr && kernel_serves(x.scalar_type()))
    return dropout_kernel(kernel, x.contiguous(), p, counters.contiguous(), layer);
  return dropout_reference(x, p, counters, layer);
}

// The gradient of dropout is dropout of the gradient under the same mask. The counters are saved,
// so that autograd refuses a backward pass after they were overwritten.
struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            double p, const at::Tensor& counters, std::int64_t layer) {
    context->save_for_backward({counters});
    context->saved_data["p"] = p;
    context->saved_data["layer"] = layer;
    return without_gradient(x, p, counters, layer);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}, {}};
    return {dropout(gradients[0], context->saved_data["p"].toDouble(),
                    context->get_saved_variables()[0], context->saved_data["layer"].toInt()),
            {},
            {},
            {}};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, double p, const at::Tensor& counters, std::int64_t layer) {
  LOCKSTEP_CHECK(p >= 0 && p <= 1);
  LOCKSTEP_CHECK(x.dim() >= 1);
  LOCKSTEP_CHECK(counters.scalar_type() == at::kLong && counters.numel() == 3);
  LOCKSTEP_CHECK(counters.device() == x.device());
  if (p == 0) return x;
  return Dropout::apply(x, p, counters, layer);
}

void register_cuda_dropout(DropoutKernel kernel) { cuda_dropout = kernel; }

}  // namespace lockstep
