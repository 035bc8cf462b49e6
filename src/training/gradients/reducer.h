// Sums gradients over the ranks: buckets of the gradients, one all-reduce each (one reduce-scatter
// where ranks share the update), during the last backward of a step.
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

// Sums gradients over the ranks. Buckets fire in one fixed order, the same on every rank: each when
// it and all before it are ready. A bucket with a tied parameter waits for each of its tensors.
// `flush` sends those that no gradient reached. So the number of forward passes and parameters
// without a gradient make no difference. Accumulation costs no communication. Installs hooks on the
// parameters: no backward pass may run when it is destroyed. One thread.
class Reducer {
 public:
  // bf16, and several ranks: gradients are added up in GradientBuffers::sums, and read by sums_of.
  Reducer(GradientBuffers& gradients, ProcessGroup& group, ReducePrecision precision);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // The next backward pass is the step's last: buckets fire from now on.
  void arm();
  // Instead of what is left of the step's backward passes: the buckets that have not fired are sent
  // as they are by `flush`.
  void skip_rest();
  // The sparse all-gather, for parameters whose gradient is few rows; used in graphs alone.
  SparseAllGather& rows();
  // Sends the buckets that have not fired. Afterwards `wait` makes the current stream (CPU: the
  // host) wait, and calls summed(range) for one part after the other of the ranks' sum, f32 or
  // bf16, until all of it was given. On GPUs most of it is given while the rest is still on its
  // way.
  void flush();
  using Summed = std::function<void(const at::Tensor& range)>;
  void wait(const Summed& summed = {});
  // After a step that was not carried through: as if it had not begun.
  void reset();
  int buckets_fired_early() const;  // of the last step: before flush

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the hooks
  // The nodes that end a backward pass at a parameter, kept alive, and the hook's key in each.
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, std::uintptr_t>> hooks_;
};

}  // namespace lockstep
