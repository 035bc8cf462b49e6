// Radial basis functions: bells around centres, as one operation with a gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace own_kernel {

// out[b, k] = exp(-(scales[k] |x[b] - centres[k]|)^2): 1 at a centre, towards 0 away from it.
// x [B, D], centres [K, D], scales [K]: f32, bf16 or f16, of one type and on one device. Returns
// [B, K] of that type, computed in fp32 (f64 for f64). Does not synchronise the device.
at::Tensor rbf(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales);

// The same by ATen's operators, differentiable by them: [B, K, D] differences are kept.
at::Tensor rbf_by_aten(const at::Tensor& x, const at::Tensor& centres, const at::Tensor& scales);

// Gradients of x (undefined unless wanted), centres and scales.
using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

}  // namespace own_kernel
