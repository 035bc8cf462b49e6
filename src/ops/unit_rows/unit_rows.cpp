// Scales rows to a common length, by our kernels or with ATen's operators.
#include "ops/unit_rows/unit_rows.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

UnitRowsKernels unit_rows_kernels;  // set once, before the first step

UnitRows unit_arguments_of(const at::Tensor& x, const at::Tensor& norm,
                           const UnitRowsOptions& options) {
  return {.x = x.const_data_ptr(),
          .norm = norm.mutable_data_ptr<float>(),
          .x_dtype = kernel_dtype(x.scalar_type()).value(),
          .y_dtype = kernel_dtype(options.dtype).value(),
          .rows = x.numel() / x.size(-1),
          .width = x.size(-1),
          .least = static_cast<float>(options.least),
          .length = static_cast<float>(options.length)};
}

struct UnitRowsFunction : torch::autograd::Function<UnitRowsFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, double least,
                            double length, at::ScalarType dtype) {
    const UnitRowsOptions options{least, length, dtype};
    const at::Tensor rows = x.contiguous();
    const at::Tensor norm =
        at::empty({rows.numel() / rows.size(-1)}, rows.options().dtype(at::kFloat));
    at::Tensor y = at::empty(rows.sizes(), rows.options().dtype(dtype));
    UnitRows arguments = unit_arguments_of(rows, norm, options);
    arguments.y = y.mutable_data_ptr();
    unit_rows_kernels.forward(arguments);
    context->save_for_backward({x, norm});
    context->saved_data["least"] = least;
    context->saved_data["length"] = length;
    context->saved_data["dtype"] = static_cast<std::int64_t>(dtype);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const UnitRowsOptions options{
        context->saved_data["least"].toDouble(), context->saved_data["length"].toDouble(),
        static_cast<at::ScalarType>(context->saved_data["dtype"].toInt())};
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{unit_rows_reference(in[0], options)};
      };
      return {differentiable_gradients(by_aten, {saved[0]}, gradients)[0], {}, {}, {}};
    }
    const at::Tensor rows = saved[0].contiguous(), up = gradients[0].contiguous();
    at::Tensor of_x = at::empty(rows.sizes(), rows.options());
    UnitRows arguments = unit_arguments_of(rows, saved[1], options);
    arguments.of_y = up.const_data_ptr();
    arguments.of_x = of_x.mutable_data_ptr();
    unit_rows_kernels.backward(arguments);
    return {of_x, {}, {}, {}};
  }
};

}  // namespace

at::Tensor unit_rows_reference(const at::Tensor& x, const UnitRowsOptions& options) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor unit = wide.div(wide.norm(2, {-1}, true).clamp_min(options.least));
  return (options.length == 1 ? unit : unit.mul(options.length)).to(options.dtype);
}

at::Tensor unit_rows(const at::Tensor& x, const UnitRowsOptions& options) {
  if (x.dim() < 1 || !x.is_floating_point() || !(options.least > 0))
    throw Error(
        cat("unit_rows wants floating rows [..., width] and a least length above 0, but "
            "got ",
            x.sizes(), " of ", x.scalar_type(), " and ", options.least));
  if (!x.is_cuda() || unit_rows_kernels.forward == nullptr || x.numel() == 0 ||
      !kernel_dtype(x.scalar_type()) || !kernel_dtype(options.dtype))
    return unit_rows_reference(x, options);
  return UnitRowsFunction::apply(x, options.least, options.length, options.dtype);
}

void register_cuda_unit_rows(UnitRowsKernels kernels) { unit_rows_kernels = kernels; }

}  // namespace lockstep
