// The norm of a step's whole gradient.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

// Computes the norm of the sums over the ranks. One thread.
class GradientNorm {
 public:
  explicit GradientNorm(const GradientBuffers& gradients) : gradients_(gradients) {}

  // Adds a range of the sums, f32 or bf16. All ranges together must cover each sum exactly once.
  // now: this call enqueues the range's norm; otherwise `find` does. If no range was added, `find`
  // takes the norm of GradientBuffers::flat. Do not call it if the optimizer is sharded.
  void add(const at::Tensor& range, bool now);
  // Writes the norm to `norm`, f32 0-dim. Further calls before `forget` do nothing. With a sharded
  // optimizer all ranks call it.
  void find(const at::Tensor& norm);
  void forget();

 private:
  void find_from_ranges(const at::Tensor& norm) const;
  void find_from_shards(const at::Tensor& norm) const;

  struct Range {
    at::Tensor sums, norm;  // norm: 0-dim; undefined: still to be found
  };
  const GradientBuffers& gradients_;
  std::vector<Range> ranges_;
  bool found_ = false;
};

}  // namespace lockstep
