// What GPU results may differ by from the same in f64.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep::testing {

inline constexpr at::ScalarType types[] = {at::kFloat, at::kBFloat16, at::kHalf};

inline double tolerance(at::ScalarType type) {
  return type == at::kFloat ? 2e-6 : type == at::kHalf ? 1e-3 : 8e-3;
}

// |a - b| / |b|; NaN never passes.
inline void expect_near(const at::Tensor& a, const at::Tensor& b, double relative,
                        const std::string& what) {
  const at::Tensor wide = b.to(at::kDouble);
  const double norm = at::linalg_vector_norm(wide).item<double>();
  const double error = at::linalg_vector_norm(a.to(at::kDouble) - wide).item<double>();
  EXPECT_TRUE(error <= relative * norm + 1e-12) << what << ": " << error << " of " << norm;
}

}  // namespace lockstep::testing
