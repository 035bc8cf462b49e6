// Detects if a recipe's loss accumulates gradients or changes weights itself, which is not allowed.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// An object exists while a recipe computes its loss. During this time, a backward pass that adds to
// the gradient of a trained parameter throws Error (GradientBuffers::refuse). A loss may use
// torch::autograd::grad, which adds to no gradient. All calls must come from one thread.
class LossGuard {
 public:
  explicit LossGuard(GradientBuffers& gradients);
  ~LossGuard();
  LossGuard(const LossGuard&) = delete;
  LossGuard& operator=(const LossGuard&) = delete;

  // Throws Error if a parameter was changed in place, and names it. Call it after the loss was
  // computed.
  void check_weights() const;

 private:
  GradientBuffers& gradients_;
  // Version counters of all trained tensors, then of all frozen parameters.
  std::vector<std::uint32_t> versions_;
};

}  // namespace lockstep
