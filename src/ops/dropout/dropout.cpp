// Dropout as an operation with gradients, by the implementation for the device.
#include "ops/dropout/dropout.h"

#include "core/base/check.h"
#include "ops/dropout/dropout_paths.h"
#include "ops/shared/index_check.h"
#include "ops/shared/own_kernels.h"

#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <atomic>
#include <optional>

namespace lockstep {
namespace {

std::atomic<DropoutKernel> cuda_dropout = nullptr;

bool dropout_kernel_serves(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf;
}

at::Tensor dropout_kernel(DropoutKernel kernel, const at::Tensor& x, const DropoutDraw& drawn) {
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) return y;
  const at::Tensor counters = drawn.counters.contiguous();
  const at::Tensor offsets = drawn.offsets.defined() ? drawn.offsets.contiguous() : at::Tensor();
  DropoutArguments arguments{.x = x.const_data_ptr(),
                             .y = y.mutable_data_ptr(),
                             .dtype = x.scalar_type(),
                             .rows = x.size(0),
                             .row_elements = x.numel() / x.size(0),
                             .p = drawn.p,
                             .counters = counters.const_data_ptr<std::int64_t>(),
                             .layer = drawn.layer};
  if (offsets.defined()) {
    arguments.items = x.size(0);
    arguments.rows = offsets.size(0) - 1;
    arguments.offsets = offsets.const_data_ptr<std::int64_t>();
  }
  kernel(arguments);
  return y;
}

at::Tensor without_gradient(const at::Tensor& x, const DropoutDraw& drawn) {
  const auto& [p, counters, offsets, layer] = drawn;
  if (x.is_cpu())
    return offsets.defined() ? ragged_dropout_cpu(x, offsets, p, counters, layer)
                             : dropout_cpu(x, p, counters, layer);
  const DropoutKernel kernel = cuda_dropout;
  if (x.is_cuda() && kernel != nullptr && dropout_kernel_serves(x.scalar_type()))
    return dropout_kernel(kernel, x.contiguous(), drawn);
  return offsets.defined() ? ragged_dropout_reference(x, offsets, p, counters, layer)
                           : dropout_reference(x, p, counters, layer);
}

// The gradient of dropout is dropout of the gradient with the same mask. The counters are saved. So
// autograd refuses a backward pass if they were overwritten.
struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            double p, const at::Tensor& counters, std::int64_t layer,
                            const std::optional<at::Tensor>& offsets) {
    context->save_for_backward({counters, offsets.value_or(at::Tensor())});
    context->saved_data["p"] = p;
    context->saved_data["layer"] = layer;
    return without_gradient(
        x,
        {.p = p, .counters = counters, .offsets = offsets.value_or(at::Tensor()), .layer = layer});
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    return {Dropout::apply(gradients[0], context->saved_data["p"].toDouble(), saved[0],
                           context->saved_data["layer"].toInt(), if_defined(saved[1])),
            {},
            {},
            {},
            {}};
  }
};

void check_dropout(const at::Tensor& x, double p, const at::Tensor& counters) {
  LOCKSTEP_CHECK(p >= 0 && p <= 1);
  LOCKSTEP_CHECK(x.dim() >= 1);
  LOCKSTEP_CHECK(counters.scalar_type() == at::kLong && counters.numel() == 3);
  LOCKSTEP_CHECK(counters.device() == x.device());
}

}  // namespace

at::Tensor dropout(const at::Tensor& x, double p, const at::Tensor& counters, std::int64_t layer) {
  check_dropout(x, p, counters);
  if (p == 0) return x;
  return Dropout::apply(x, p, counters, layer, std::nullopt);
}

at::Tensor ragged_dropout(const at::Tensor& x, const at::Tensor& offsets, double p,
                          const at::Tensor& counters, std::int64_t layer) {
  check_dropout(x, p, counters);
  LOCKSTEP_CHECK(offsets.device() == x.device());
  check_offsets(offsets, x.size(0), "the rows of dropout");
  if (p == 0) return x;
  return Dropout::apply(x, p, counters, layer, offsets.to(at::kLong));
}

at::Tensor dropout(const at::Tensor& x, const DropoutDraw& draw) {
  if (draw.p == 0) return x;
  return draw.offsets.defined() ? ragged_dropout(x, draw.offsets, draw.p, draw.counters, draw.layer)
                                : dropout(x, draw.p, draw.counters, draw.layer);
}

void register_cuda_dropout(DropoutKernel kernel) { cuda_dropout = kernel; }

}  // namespace lockstep
