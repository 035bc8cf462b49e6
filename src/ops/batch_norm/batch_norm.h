// Batch norm whose statistics may span several ranks.
#pragma once

#include "ops/shared/channel_moments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace lockstep {

// Adds up a tensor over the ranks, in place. The tensor is f32, contiguous, on the rank's device.
// All ranks make the same calls in the same order.
using SumOverRanks = std::function<void(const at::Tensor&)>;

// Set if statistics span several ranks.
struct StatisticsOfRanks {
  SumOverRanks sum;
  int rank = 0, ranks = 1;
};

struct BatchNormState {
  at::Tensor weight, bias;               // [C], or undefined
  at::Tensor running_mean, running_var;  // f32 [C], changed in place while training
  double momentum = 0.1, eps = 1e-5;
};

// Max pooling, with the arguments of max_pool (ops/spatial/spatial.h), the same along each axis.
struct MaxPool {
  std::int64_t window = 1, stride = 1, padding = 0;
};

// The operations after the norm: pool?(relu?(normed + skip)). With skip_norm, skip is first
// normalised by it, as at the end of a residual block whose other branch has a norm too. On GPUs
// these operations need no separate pass if x and skip are channels-last. With a pool this holds
// for images with ReLU and without skip.
struct AfterNorm {
  at::Tensor skip;                          // of x's shape and dtype, or undefined for 0
  std::optional<BatchNormState> skip_norm;  // only with skip; its statistics are computed as those
                                            // of x
  bool relu = false;
  std::optional<MaxPool> pool;
};

// Moments of x, of a skip with its own norm, or of both, from the operations that computed these
// tensors (pointwise.h, block_convolution.h). They save a pass over each tensor if our kernels take
// a rank's own statistics. Otherwise they are ignored.
struct KnownMoments {
  ChannelMoments x, skip;
};

// x: [N, C, ...], f32|bf16|f16, in any layout. The result has the same layout.
//  training: normalises by mean and variance over all dimensions but C. They are those of all
//   ranks' rows if `of_ranks` is not null, else those of x alone. Moves the running statistics
//   towards them by momentum (the variance as an unbiased estimate), unless a block is computed
//   again. The number of rows may differ between ranks. Not differentiable twice if the statistics
//   span ranks.
//  otherwise: normalises by the running statistics.
// Throws Error if there is only one value per channel to normalise, if there is a skip_norm without
// a skip, or if known moments have another shape.
at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                      const StatisticsOfRanks* of_ranks = nullptr, const AfterNorm& after = {},
                      const KnownMoments& known = {});

}  // namespace lockstep
