// Batch norm whose statistics may span several ranks.
#pragma once

#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>

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

// The largest of windows, as ops/spatial/spatial.h's max_pool takes it; the same along each axis.
struct MaxPool {
  std::int64_t window = 1, stride = 1, padding = 0;
};

// The operations after the norm: pool?(relu?(normed + skip)). With skip_norm, skip is normed by
// that first, as at the end of a residual block whose other branch has a norm too. On GPUs all of
// it costs no pass of its own if x and skip lie channels-last (with a pool: images, ReLU and no
// skip).
struct AfterNorm {
  at::Tensor skip;                          // of x's shape and dtype, or undefined for 0
  std::optional<BatchNormState> skip_norm;  // only with skip; its statistics come about as x's
  bool relu = false;
  std::optional<MaxPool> pool;
};

// Moments of x, of a skip with a norm of its own, or of both, from the operations that computed
// them (pointwise.h, block_convolution.h). They save a pass over each where our kernels take a
// rank's own statistics. Elsewhere they are ignored.
struct KnownMoments {
  ChannelMoments x, skip;
};

// x [N, C, ...] f32|bf16|f16, in any layout, which the result has too.
//  training: normalises by the mean and variance over all but C, of all ranks' rows where
//   `of_ranks` is not null and of x alone otherwise, and moves the running ones towards them by
//   momentum (the variance as an unbiased estimate), unless a block is computed again. Numbers of
//   rows may differ between ranks. Not differentiable twice where it spans ranks.
//  else: by the running ones.
// Throws Error if one value per channel is all there is to normalise, if there is a skip_norm
// without a skip, and if what is known is of another shape.
at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                      const StatisticsOfRanks* of_ranks = nullptr, const AfterNorm& after = {},
                      const KnownMoments& known = {});

}  // namespace lockstep
