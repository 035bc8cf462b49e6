// A trial forward pass: whether it uses the weights of a deferred update no earlier than they are
// there.
#pragma once

#include "training/gradients/gradient_buffers.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace lockstep {

struct DeferralTrial {
  bool waits_for_blocks = false;
  // Each sparse parameter that is updated behind its reader was read once, by an operation that can
  // compute rows.
  bool reads_sparse_once = false;
};

// Calls `forward` twice, the second time with other weights in place of those whose block has not
// begun. forward(before_block) must call before_block(number) where a block begins. It returns its
// results on the device, which are compared.
using BeforeBlock = std::function<void(std::int64_t)>;
DeferralTrial try_deferral(const UpdatePlan& plan, GradientBuffers& gradients,
                           const std::function<at::Tensor(const BeforeBlock&)>& forward);

}  // namespace lockstep
