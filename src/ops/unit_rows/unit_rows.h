// Scales rows to the same Euclidean length.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

struct UnitRowsOptions {
  double least = 1e-6;  // above 0; a shorter row is divided by this instead of its length
  double length = 1;
  at::ScalarType dtype = at::kFloat;  // dtype of the result
};

// Returns x / max(|x|, least) × length for each row of x, which is floating, [..., width]. |x| is
// the square root of the sum of squares. Computes in f32 (f64 for f64). The result is
// differentiable, and second derivatives use ATen's operators. The gradient is that of ATen's div,
// norm and clamp_min. Throws Error for other dtypes, and if `least` is not above 0.
at::Tensor unit_rows(const at::Tensor& x, const UnitRowsOptions& options = {});

// Computes unit_rows with ATen's operators, on any device.
at::Tensor unit_rows_reference(const at::Tensor& x, const UnitRowsOptions& options = {});

struct UnitRowsKernels {
  void (*forward)(const UnitRows&) = nullptr;  // runs on the current stream
  void (*backward)(const UnitRows&) = nullptr;
};
void register_cuda_unit_rows(UnitRowsKernels kernels);

}  // namespace lockstep
