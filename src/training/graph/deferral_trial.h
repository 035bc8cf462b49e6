// A trial forward pass. It tests that no weights of a deferred update are used before they are
// updated.
#pragma once

#include "training/gradients/gradient_buffers.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace lockstep {

struct DeferralTrial {
  // True if the results of both forward passes are equal. So no weights are used before they are
  // updated.
  bool waits_for_blocks = false;
  // Concerns sparse parameters whose update comes after their reader. True if each of them was read
  // once, by an operation that can compute rows.
  bool reads_sparse_once = false;
};

// Calls `forward` twice. In the second call, weights whose block has not begun have other values.
// forward(before_block) must call before_block(number) where a block begins. It returns results on
// the device. The results of both calls are compared.
using BeforeBlock = std::function<void(std::int64_t)>;
DeferralTrial try_deferral(const UpdatePlan& plan, GradientBuffers& gradients,
                           const std::function<at::Tensor(const BeforeBlock&)>& forward);

}  // namespace lockstep
