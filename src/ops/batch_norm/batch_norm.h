// Computes batch norm, fused with the operations after it. Its statistics may span several ranks.
#pragma once

#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace lockstep {

// A function that sums a tensor over the ranks, in place. The tensor is f32, contiguous, on the
// rank's device. All ranks make the same calls in the same order.
using SumOverRanks = std::function<void(const at::Tensor&)>;

// Says how statistics are computed over several ranks.
struct StatisticsOfRanks {
  SumOverRanks sum;
  int rank = 0, ranks = 1;
};

struct BatchNormState {
  at::Tensor weight, bias;               // [C], or undefined
  at::Tensor running_mean, running_var;  // f32 [C], changed in place while training
  double momentum = 0.1, eps = 1e-5;
};

// Max pooling with the arguments of max_pool (ops/spatial/spatial.h). Each argument is the same
// along all axes.
struct MaxPool {
  std::int64_t window = 1, stride = 1, padding = 0;
};

// The operations after the norm: pool?(relu?(normed + skip)). A question mark stands for an
// optional operation. A skip_norm first normalises the skip, as at the end of a residual block
// whose other branch also has a norm.
//
// On GPUs these operations need no extra pass if x and skip are channels-last and statistics do not
// span ranks. The pool also needs no extra pass if x holds images, `relu` is true and there is no
// skip.
struct AfterNorm {
  at::Tensor skip;                          // shape and dtype of x; undefined if there is no skip
  std::optional<BatchNormState> skip_norm;  // normalises `skip`, with statistics as for x
  bool relu = false;
  std::optional<MaxPool> pool;
};

// Moments of x, and of a skip that has its own norm. The operations that computed these tensors can
// return them (pointwise.h, block_convolution.h). Known moments save a pass over each tensor if our
// kernels normalise by statistics of one rank. In other cases the moments are ignored.
struct KnownMoments {
  ChannelMoments x, skip;
};

// Returns the batch norm of x, followed by the operations of `after`. x is [N, C, ...],
// f32|bf16|f16, in any layout. The result has the layout of x.
//
// In training, mean and variance are taken over all dimensions except C. If `of_ranks` is not null,
// mean and variance include the rows of all ranks. The number of rows may differ between ranks. The
// running statistics move towards this mean and the unbiased variance by `momentum`. While a block
// is computed again (shared/recompute.h), the running statistics do not move. If `training` is
// false, x is normalised by the running statistics.
//
// The result is differentiable twice, unless statistics span ranks. Throws Error if skip_norm is
// set without skip, or if the shapes of known moments do not fit their tensor. Also throws Error if
// statistics of one rank would be computed from only one value per channel.
at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                      const StatisticsOfRanks* of_ranks = nullptr, const AfterNorm& after = {},
                      const KnownMoments& known = {});

}  // namespace lockstep
