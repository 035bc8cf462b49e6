// Tests whether a deferred update (DeferredUpdate) would update all weights before they are used.
// The test compares the results of two forward passes.
#pragma once

#include "training/gradients/gradient_buffers.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace lockstep {

struct DeferralTrial {
  // True if both forward passes gave equal results. Then no weights are used before they are
  // updated.
  bool waits_for_blocks = false;
  // True if each sparse parameter with its own update group was read exactly once, by an operation
  // that can compute updated rows itself (DeferredSparseUpdate).
  bool reads_sparse_once = false;
};

// Calls `forward` twice and compares the results. In the second call, the weights of a block
// (StepContext::block) have wrong values until the block begins. forward(before_block) must call
// before_block(number) where each block begins. `forward` returns its results as a tensor on the
// device.
using BeforeBlock = std::function<void(std::int64_t)>;
DeferralTrial try_deferral(const UpdatePlan& plan, GradientBuffers& gradients,
                           const std::function<at::Tensor(const BeforeBlock&)>& forward);

}  // namespace lockstep
