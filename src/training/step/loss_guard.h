// One loss, one update: notices a loss that adds gradients up or changes weights by itself.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// Lives while a recipe makes its loss. A backward pass over trained parameters then throws
// Error out of that pass (GradientBuffers::refuse); gradients that a loss asks for and keeps
// (torch::autograd::grad) are no business of it. One thread.
class LossGuard {
 public:
  explicit LossGuard(GradientBuffers& gradients);
  ~LossGuard();
  LossGuard(const LossGuard&) = delete;
  LossGuard& operator=(const LossGuard&) = delete;

  // After the loss was made. Throws Error with the name of a parameter that was changed in place.
  void check_weights() const;

 private:
  GradientBuffers& gradients_;
  std::vector<std::uint32_t> versions_;  // of every handle, then of every frozen parameter
};

}  // namespace lockstep
