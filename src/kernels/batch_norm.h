// Batch norm whose statistics may span several ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace lockstep {

// Adds up a tensor over the ranks, in place: f32, contiguous, on the rank's device. The same calls
// in the same order on every rank.
using SumOverRanks = std::function<void(const at::Tensor&)>;

// Where statistics span several ranks.
struct StatisticsOfRanks {
  SumOverRanks sum;
  int rank = 0, ranks = 1;
};

struct BatchNormState {
  at::Tensor weight, bias;               // [C], or undefined
  at::Tensor running_mean, running_var;  // f32 [C], changed in place while training
  double momentum = 0.1, eps = 1e-5;
};

// What follows the norm: relu?(normed + skip). On GPUs it costs no pass of its own where x lies
// channels-last.
struct AfterNorm {
  at::Tensor skip;  // of x's shape and dtype, or undefined for 0
  bool relu = false;
};

// x [N, C, ...] f32|bf16|f16, in any layout, which the result has too.
//  training: normalises by the mean and variance over all but C, of all ranks' rows where
//   `of_ranks` is not null and of x alone otherwise, and moves the running ones towards them by
//   momentum (the variance as an unbiased estimate), unless a block is computed again. Numbers of
//   rows may differ between ranks. Not differentiable twice where it spans ranks.
//  else: by the running ones.
// Throws Error if one value per channel is all there is to normalise.
at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                      const StatisticsOfRanks* of_ranks = nullptr, const AfterNorm& after = {});

}  // namespace lockstep
