// Sums gradients over the ranks during the last backward pass of a step. Each bucket takes one
// all-reduce, or one reduce-scatter if ranks share the update.
#pragma once

#include "planning/options/train_options.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace torch::autograd {
struct Node;
}  // namespace torch::autograd

namespace lockstep {

class SparseAllGather;

// Sums gradients over the ranks. Buckets are sent in one fixed order, the same on every rank. Each
// bucket is sent when it and all buckets before it are ready. A bucket with a tied parameter waits
// for the gradients of all tensors of this parameter. `flush` sends the buckets that got no
// gradient. So the order does not depend on which parameters get a gradient, or on the number of
// forward passes. Accumulation costs no communication. Installs hooks on the parameters, so no
// backward pass may run when it is destroyed. One thread.
class Reducer {
 public:
  // With bf16 and several ranks, gradients are reduced in GradientBuffers::sums, and sums_of reads
  // them there.
  Reducer(GradientBuffers& gradients, ProcessGroup& group, ReducePrecision precision);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // The next backward pass is the step's last one. Buckets are sent from now on.
  void arm();
  // Replaces the remaining backward passes of the step. `flush` then sends the remaining buckets as
  // they are.
  void skip_rest();
  // The sparse all-gather, for parameters whose gradient consists of few rows. Only graphs use it.
  SparseAllGather& rows();
  // `flush` sends the buckets that are not yet sent. Afterwards `wait` makes the current stream
  // (CPU: the host) wait. `wait` calls summed(range) for each part of the ranks' sum, f32 or bf16,
  // one after the other, until the whole sum was passed. On GPUs most parts are passed while others
  // are still being reduced.
  void flush();
  using Summed = std::function<void(const at::Tensor& range)>;
  void wait(const Summed& summed = {});
  // After a step that was not completed: restores the state before that step.
  void reset();
  int buckets_fired_early() const;  // number of buckets of the last step that were sent before
                                    // `flush`

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the hooks
  // The autograd nodes that accumulate parameters' gradients, kept alive here, and the key of the
  // hook in each.
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, std::uintptr_t>> hooks_;
};

}  // namespace lockstep
