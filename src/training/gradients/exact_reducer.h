// Exact mode's sum of gradients over micro-batches and ranks. It is bitwise the same on any number
// of ranks, because it is one binary tree over the step's exact-mode micro-batches
// (planning/batch/exact_sum.h).
#pragma once

#include "planning/batch/exact_sum.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// In every step, every rank does this for each exact-mode micro-batch: it zeroes the gradients,
// runs a backward pass, and calls `push`. After the last one it calls `finish`. Owns flat fp32
// buffers as large as GradientBuffers::flat. ExactSum::buffers says how many. The optimizer must
// not be sharded. One thread, on the training stream.
class ExactReducer {
 public:
  // accumulation: the number of exact-mode micro-batches of a rank in a step.
  ExactReducer(GradientBuffers& gradients, ProcessGroup& group, std::int64_t accumulation);

  // Call it when GradientBuffers::flat holds the gradients of the next exact-mode micro-batch.
  void push();
  // Replaces the remaining exact-mode micro-batches of the step on a rank that cannot compute them.
  // `finish` then still sends values, but the result is meaningless.
  void skip_rest();
  // All ranks call it. Afterwards GradientBuffers::flat holds the gradients of the whole step.
  void finish();
  // After a step that was not completed: restores the state before that step.
  void reset();

 private:
  // Exchanges the k-th sums of all ranks that have a k-th sum. Each rank gets the elements of its
  // own shard.
  struct Exchange {
    std::vector<std::int64_t> take, give;  // elements, by rank
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
  std::vector<at::Tensor> stack_;          // unused if a rank has one exact-mode micro-batch: then
                                           // its gradients are the sum
  std::vector<std::int64_t> shard_sizes_;  // shard size of each rank
  Shard own_shard_;
  std::vector<Exchange> exchanges_;
  std::vector<at::Tensor> partial_;  // this rank's shard of the sums of all ranks, in the order of
                                     // the exact-mode micro-batches
  std::vector<SumStep> steps_;
};

}  // namespace lockstep
