// Detects a recipe's loss that accumulates gradients or changes weights by itself.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// Exists while a recipe computes its loss. During this time a backward pass over trained parameters
// throws Error (GradientBuffers::refuse). A loss may compute gradients for its own use
// (torch::autograd::grad). One thread.
class LossGuard {
 public:
  explicit LossGuard(GradientBuffers& gradients);
  ~LossGuard();
  LossGuard(const LossGuard&) = delete;
  LossGuard& operator=(const LossGuard&) = delete;

  // Call it after the loss was computed. If a parameter was changed in place, throws Error with its
  // name.
  void check_weights() const;

 private:
  GradientBuffers& gradients_;
  std::vector<std::uint32_t> versions_;  // of each handle, then of each frozen parameter
};

}  // namespace lockstep
