// Sums gradients over the ranks, overlapped with the last backward pass of a step. A bucket takes
// one all-reduce, or one reduce-scatter if the optimizer is sharded. Parameters that use the sparse
// all-gather (`rows`) are not part of these collectives.
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

// A bucket is sent by starting its collective. Buckets are sent in one fixed order, which is the
// same on every rank. A bucket is sent when it and all buckets before it have all their gradients.
// If several tensors of the model share one parameter, the bucket waits for the gradients of all of
// them. `flush` sends the buckets that never got all their gradients. So the order does not depend
// on which parameters get a gradient. Gradients are sent only in the step's last backward pass, so
// accumulation costs no communication. This object installs hooks on the parameters, so do not
// destroy it during a backward pass. All calls must come from one thread.
class Reducer {
 public:
  // If `precision` is bf16 and there are several ranks, gradients are reduced in the bf16 buffer
  // GradientBuffers::sums.
  Reducer(GradientBuffers& gradients, ProcessGroup& group, ReducePrecision precision);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Call it before the step's last backward pass. Buckets are sent from now on.
  void arm();
  // Call it in place of the step's remaining backward passes. `flush` then sends the remaining
  // buckets as they are.
  void skip_rest();
  // The sparse all-gather, for parameters whose gradient consists of few rows. Only captured steps
  // use it.
  SparseAllGather& rows();
  // `flush` sends the buckets that are not sent yet. Then `wait` waits for the sums. On GPUs only
  // the current stream waits; on CPUs the host waits. `wait` passes all sums, f32 or bf16, to
  // `summed`, one range after another. On GPUs, most ranges are passed while others are still being
  // reduced.
  void flush();
  using Summed = std::function<void(const at::Tensor& range)>;
  void wait(const Summed& summed = {});
  // Call it after a step that was not completed. The function forgets the buckets that were sent.
  void reset();
  // Number of buckets that were sent before `flush` in the last step.
  int buckets_fired_early() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the hooks
  // The autograd nodes that accumulate the parameters' gradients, and the key of the hook in each
  // node. This list keeps the nodes alive.
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, std::uintptr_t>> hooks_;
};

}  // namespace lockstep
