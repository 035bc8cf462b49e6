// Rows scaled to one length.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

struct UnitRowsOptions {
  double least = 1e-6;  // a shorter row is divided by this in place of its length; above 0
  double length = 1;
  at::ScalarType dtype = at::kFloat;  // of the result
};

// x [..., width], floating: x / max(|x|, least) × length row by row, |x| the square root of the sum
// of squares, computed in f32 (f64 for f64). Differentiable, twice by way of ATen; the gradient is
// ATen's, of div, norm and clamp_min. Throws Error for other types.
at::Tensor unit_rows(const at::Tensor& x, const UnitRowsOptions& options = {});

// The same in ATen's operators, on any device.
at::Tensor unit_rows_reference(const at::Tensor& x, const UnitRowsOptions& options = {});

struct UnitRowsKernels {
  void (*forward)(const UnitRows&) = nullptr;  // on the current stream
  void (*backward)(const UnitRows&) = nullptr;
};
void register_cuda_unit_rows(UnitRowsKernels kernels);

}  // namespace lockstep
