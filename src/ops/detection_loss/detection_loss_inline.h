// Computes the loss of a detector's row and its derivative, for kernels and plain C++.
#pragma once

#include "ops/boxes/box_inline.h"

namespace lockstep {

struct CostAndSlope {
  float cost, slope;
};

// Returns the binary cross-entropy of a logit. For NaN, cost and slope are NaN.
LOCKSTEP_HOST_DEVICE inline CostAndSlope binary_cross_entropy_of(float logit, bool positive) {
  const float small = std::exp(-std::fabs(logit));
  const float larger = 1.0F / (1.0F + small), smaller = small * larger;
  const float wrong = positive ? -logit : logit;  // the cost is softplus(wrong)
  const float cost = (wrong > 0 ? wrong : 0.0F) + std::log1p(small);
  const float error = wrong >= 0 ? larger : smaller;
  if (logit != logit) return {logit, logit};
  return {cost, positive ? -error : error};
}

// Returns the smooth L1 of a difference. `beta` is above 0. For NaN, cost and slope are NaN.
LOCKSTEP_HOST_DEVICE inline CostAndSlope smooth_l1_of(float difference, float beta) {
  const float size = std::fabs(difference);
  if (size < beta) return {0.5F * size * size / beta, difference / beta};
  const float cost = size - 0.5F * beta;
  if (difference != difference) return {cost, difference};
  return {cost, difference > 0 ? 1.0F : -1.0F};
}

// Computes the parts of a row's cross-entropy over `columns` logits. logit_at(i) returns logit i.
// log_sum is largest + log_of_rest, the logarithm of the sum of exponentials. The cost is log_sum
// minus the label's logit. The probability of a column is exp(logit - log_sum).
struct RowEntropy {
  float largest, log_of_rest;  // the logarithm of the sum of exponentials, in two parts
};
template <class LogitAt>
LOCKSTEP_HOST_DEVICE inline RowEntropy row_entropy(unsigned columns, const LogitAt& logit_at) {
  float largest = logit_at(0);
  for (unsigned i = 1; i < columns; ++i) {
    const float logit = logit_at(i);
    if (logit > largest || logit != logit) largest = logit;
  }
  float sum = 0;
  for (unsigned i = 0; i < columns; ++i) sum += std::exp(logit_at(i) - largest);
  return {largest, std::log(sum)};
}

}  // namespace lockstep
