// Sums gradients over micro-batches and ranks in exact mode (option exact). The sum is a fixed
// binary tree over the step's exact-mode micro-batches (planning/batch/exact_sum.h). These
// micro-batches hold the same samples on any number of ranks. So the sum is bitwise the same on any
// number of ranks.
#pragma once

#include "planning/batch/exact_sum.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// For each of its exact-mode micro-batches in a step, a rank sets the gradients to 0, runs a
// backward pass, and calls `push`. After its last micro-batch, the rank calls `finish`. This object
// owns fp32 buffers as large as GradientBuffers::flat; ExactSum::buffers gives their number. The
// optimizer must not be sharded. All calls must come from one thread, with the training stream as
// the current stream.
class ExactReducer {
 public:
  // accumulation: the number of exact-mode micro-batches that a rank has in a step.
  ExactReducer(GradientBuffers& gradients, ProcessGroup& group, std::int64_t accumulation);

  // Adds the gradients of the next exact-mode micro-batch, which are in GradientBuffers::flat.
  void push();
  // Call it in place of the step's remaining `push` calls if this rank cannot compute the
  // gradients. `finish` then still takes part in all collectives, but the result is meaningless.
  void skip_rest();
  // Adds up the partial sums of all ranks. All ranks call it. Afterwards GradientBuffers::flat
  // holds the gradients of the whole step.
  void finish();
  // Call it after a step that was not completed. The next `push` then begins a new step.
  void reset();

 private:
  // A rank's micro-batches may give several partial sums. Exchange k is an all-to-all of the k-th
  // partial sums, in which all ranks with at least k + 1 sums send. Each rank gets the elements of
  // its own shard.
  struct Exchange {
    std::vector<std::int64_t> take, give;  // number of elements from and to each rank
    at::Tensor taken;                      // [sum of take]
  };
  void plan_exchanges(const std::vector<std::vector<SumNode>>& sums);
  at::Tensor own_sum(std::size_t k);
  void add_up();

  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ProcessGroup& group_;
  std::int64_t accumulation_;
  CarryChain chain_;
  // The buffers of partial sums. The list is empty if a rank has one exact-mode micro-batch,
  // because the gradients of this micro-batch are then the rank's sum.
  std::vector<at::Tensor> stack_;
  std::vector<std::int64_t> shard_sizes_;  // elements of each rank's shard
  Shard own_shard_;
  std::vector<Exchange> exchanges_;
  // This rank's shard of all partial sums, in the order of the exact-mode micro-batches.
  std::vector<at::Tensor> partial_;
  std::vector<SumStep> steps_;
};

}  // namespace lockstep
