// Computes the norm of a step's whole gradient.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

// Computes the L2 norm of the gradients that were summed over the ranks. All calls must come from
// one thread.
class GradientNorm {
 public:
  explicit GradientNorm(const GradientBuffers& gradients) : gradients_(gradients) {}

  // Adds a range of the gradient sums, f32 or bf16. All ranges together must cover each parameter's
  // sum exactly once. now: true if this call enqueues the norm of the range, false if `find` does.
  // Do not call it if the optimizer is sharded.
  void add(const at::Tensor& range, bool now);
  // Writes the norm to `norm`, f32 0-dim. If no range was added, the result is the norm of
  // GradientBuffers::flat. If the optimizer is sharded, it is the norm of the shards of all ranks,
  // and all ranks call the function. Further calls before `forget` do nothing.
  void find(const at::Tensor& norm);
  void forget();

 private:
  void find_from_ranges(const at::Tensor& norm) const;
  void find_from_shards(const at::Tensor& norm) const;

  struct Range {
    at::Tensor sums, norm;  // norm: 0-dim; undefined until it is enqueued
  };
  const GradientBuffers& gradients_;
  std::vector<Range> ranges_;
  bool found_ = false;
};

}  // namespace lockstep
